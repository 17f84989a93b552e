"""Programs that a command starts in a process of their own."""
