"""Looking into a running gateway: why a query is quiet, where things came from, what flows."""
