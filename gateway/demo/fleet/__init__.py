"""A fleet of simulated devices that speak every dialect, misbehave, and know the truth.

`sosa-gateway demo --fleet N`; docs/fleet.md. Nothing here decodes: payloads are written and the
truth is told by code of its own, so that a fault of an adapter cannot cancel itself out.
"""
