"""SUBSCRIBE: who subscribes, what waits for them, and the transports that bring it."""
