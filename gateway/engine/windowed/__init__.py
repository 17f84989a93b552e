"""Subscriptions over windows: named graphs of recent stream elements beside those of the store."""
