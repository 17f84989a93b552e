"""Who may get in, by HTTP: who asks, the clients, the claim of a gateway that has none yet."""
