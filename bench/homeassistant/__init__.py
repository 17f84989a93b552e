"""What it takes to tell Home Assistant what there is."""
