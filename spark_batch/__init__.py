"""Batch jobs on Spark over the archive of observations; the gateway imports nothing of it."""
