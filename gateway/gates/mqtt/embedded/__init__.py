"""The gateway's own MQTT 3.1.1 broker, which acknowledges what the store has; amqtt, hardened."""
