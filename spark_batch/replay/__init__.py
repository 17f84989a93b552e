"""From the archive back to a broker or a gateway: what is sent, when, and how far it has come."""
