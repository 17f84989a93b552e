"""Recipes: what programs publish by the generic formats, one line a value where it can be."""
