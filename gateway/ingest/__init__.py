"""Ingest: from a message to an observation with an identity, journalled and in the store."""
