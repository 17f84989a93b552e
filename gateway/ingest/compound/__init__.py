"""Compound events of messages, and of all that was before: told again from a position on."""
