"""Adapters: what the bytes of a device mean. Synchronous functions over values, no I/O."""
