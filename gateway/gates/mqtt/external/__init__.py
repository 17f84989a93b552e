"""Connections to an external broker for readings, commands, subscribers and discovery; paho."""
