"""Asking a running gateway: where it is, how to get in, what to send, why it cannot be."""
