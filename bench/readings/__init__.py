"""Readings over MQTT: how many a second, how soon a subscriber has them, what the journal costs."""
