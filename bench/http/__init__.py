"""UPDATEs and notifications by HTTP and WebSocket, beside servers that do nothing else."""
