"""Compound events of several gateways: told once to each that needs them, in order."""
