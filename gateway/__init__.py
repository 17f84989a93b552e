"""sosa-gateway: the running service. ARCHITECTURE.md shows the way of the data through it."""

__version__ = "0.1.0"
