"""OGC SensorThings API 1.1 over the graph: its URLs read, asked and answered; no I/O."""
