"""What it costs to read registers."""
