"""Thousands of conjunctive queries over a window of a building's readings."""
