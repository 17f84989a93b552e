"""Benchmarks: what the gateway does per second, beside yardsticks of the same run.

They stand beside the product, in a checkout; `sosa-gateway bench` starts them as a process. An
experiment is one module with a generator `measure`; it gives an `Experiment`, whose answers have
been checked, or says why it was skipped.
"""
