"""Releases beside each other: verified, tried, kept or gone back from (docs/upgrades.md)."""
