"""Cases, random ontologies and foreign reasoners, to test reasoners by."""
