"""HTTP and WebSocket: their gates put together, their limits, and where they are served."""
