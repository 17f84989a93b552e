"""Numbers as devices write and count them, before they have a unit."""
