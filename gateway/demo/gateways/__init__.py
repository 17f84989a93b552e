"""Several gateways in one demo, which join a federation on loopback and answer together."""
