"""Observations as elements of streams: as they come, and from the journal; what is declared."""
