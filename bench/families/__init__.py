"""What a message of each device family costs."""
