"""What all HTTP gates share: callers, bodies, answers, limits, the server."""
