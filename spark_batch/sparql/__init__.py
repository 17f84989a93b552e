"""SPARQL SELECT over the archive: parsed by rdflib, translated to column functions of Spark."""
