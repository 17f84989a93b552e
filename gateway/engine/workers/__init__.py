"""Parallel mode: SPUs in worker processes, each with its own CTS."""
