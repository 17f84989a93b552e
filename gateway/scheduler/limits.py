"""How many requests wait for the engine, where nobody says otherwise."""

URQ = 1_000
"""UPDATEs."""

SRQ = 1_000
"""SUBSCRIBEs."""
