"""Gates: where bytes come in and go out (MQTT, HTTP, WebSocket). The only asyncio and sockets."""
