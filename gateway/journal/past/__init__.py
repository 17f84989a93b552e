"""Observations of all times: what an archive has taken, and from there on what the journal has."""
