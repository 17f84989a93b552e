"""The command line: one module a subject, found by `command`."""
