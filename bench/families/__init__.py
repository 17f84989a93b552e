"""What a message of each device family costs, in recorded cases."""
