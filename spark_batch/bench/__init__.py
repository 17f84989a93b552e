"""What the archive costs beside DuckDB and Polars: `python -m spark_batch bench`."""
