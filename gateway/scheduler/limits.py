"""How many requests wait for the engine, and how often time is looked at, without other word."""

URQ = 1_000
"""UPDATEs."""

SRQ = 1_000
"""SUBSCRIBEs."""

TICK_MS = 100
"""Milliseconds between two looks at what time alone changes in windows."""
