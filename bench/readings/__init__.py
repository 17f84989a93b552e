"""Readings over MQTT: ingest, latency, journal; each part a process."""
