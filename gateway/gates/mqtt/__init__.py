"""MQTT of devices: the embedded broker, and the connections to an external one."""
