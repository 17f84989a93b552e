"""The URLs of SensorThings: their grammar, read within bounds and written again."""
