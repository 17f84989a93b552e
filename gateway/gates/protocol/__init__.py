"""What leaves and arrives as JSON, and media types; without a web framework."""
