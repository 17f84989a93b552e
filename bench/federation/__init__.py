"""What a federation of gateways costs: one pair, many queries, delay."""
