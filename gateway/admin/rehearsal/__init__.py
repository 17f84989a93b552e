"""Rehearsals: the last messages through changed mappings, in a process of their own."""
