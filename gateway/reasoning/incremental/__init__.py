"""Closures kept while what they rest on changes: compiled axioms, counted support."""
