"""Many gateways or peers in one process, in simulated time: their work is real, wires are not."""
