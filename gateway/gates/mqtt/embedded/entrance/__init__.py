"""Who comes in: sockets, TLS and WebSocket, CONNECT, and how much room there is for a client."""
