"""What Home Assistant is told, and what its own code makes of it."""
