"""What devices mean: mappings listed, tried, proposed, changed and undone."""
