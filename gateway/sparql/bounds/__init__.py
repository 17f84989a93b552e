"""What a text may cost: bounds on its form, and on how strings grow."""
