"""`sosa-gateway bench`: what the gateway does per second, beside yardsticks of the same run.

Place on the way of the data: around all of it. An experiment is one module with a generator
`measure`; it gives an `Experiment`, whose answers have been checked, or says why it was skipped.
"""

from gateway.bench.command import run

__all__ = ["run"]
