"""Runtime: what the process gives to every part of it: clocks, cores, calls into the loop, metrics."""
