"""Runtime: what every part has of its process: clocks, cores, calls into the loop, metrics."""
