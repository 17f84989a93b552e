"""The chat of SEPA's paper: what a broker adds to its store, and a client that writes to itself."""
