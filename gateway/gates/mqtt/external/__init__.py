"""Connections to an external broker, by paho and MQTT 5."""
