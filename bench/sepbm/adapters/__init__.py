"""What is measured: one module a system, each behind `Adapter`."""
