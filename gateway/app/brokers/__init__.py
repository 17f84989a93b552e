"""The link to the MQTT broker: our own, a Mosquitto beside, or another that is there."""
