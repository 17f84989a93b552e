"""Compound events: what one request states in one graph, and queries asked of each alone."""
