"""What reasoning costs: the closure, changes of data and axioms, readings, memory."""
