"""Aggregates over windows, beside today's other ways of telling them."""
