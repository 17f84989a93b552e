"""UPDATEs and notifications by HTTP and WebSocket, beside bare servers."""
