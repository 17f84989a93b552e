"""Joins of triple patterns: the BOOSTER, and the units that it answers for."""
