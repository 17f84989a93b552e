"""The gateway as a device that nobody visits: watched over, and set up by a file."""
