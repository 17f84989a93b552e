"""The member `extended` of a profile: its items as a file writes them, and as RDF."""
