"""The command line: one module a subject, loaded when one of its commands is chosen."""
