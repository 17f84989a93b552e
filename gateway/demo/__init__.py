"""The demo: a small house of simulated devices, or a recording, in front of a real gateway."""
