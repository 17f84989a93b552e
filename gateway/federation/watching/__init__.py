"""How the members of a federation are: for people, programs, metrics and alarms."""
