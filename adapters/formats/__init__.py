"""One module per payload format; formats know nothing of one another (transport × format)."""
