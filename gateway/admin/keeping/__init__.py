"""What a gateway keeps as one thing: backups of it, and other data in its place."""
