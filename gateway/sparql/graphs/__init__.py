"""Which graphs a text names."""
