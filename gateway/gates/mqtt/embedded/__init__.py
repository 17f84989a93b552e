"""The gateway's own MQTT 3.1.1 broker: amqtt with its delivery hardened."""
