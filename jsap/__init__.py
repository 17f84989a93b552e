"""JSAP profiles: SPARQL templates with forced bindings; knows nothing of the gateway."""
