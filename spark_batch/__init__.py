"""Batch jobs on Spark over the archive of observations. Nobody imports this package."""
