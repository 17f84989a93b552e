"""Actuators: commands, confirmations, and what must never happen twice."""
