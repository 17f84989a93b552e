"""Configuration: every setting as a frozen value, and where it comes from."""
