"""Sparkplug B: payloads, values, commands, and what a host application knows."""
