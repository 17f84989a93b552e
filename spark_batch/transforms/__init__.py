"""Pure functions from DataFrame to DataFrame: no files, no session, no Python on a worker."""
