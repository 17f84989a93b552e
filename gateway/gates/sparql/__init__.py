"""SPARQL by HTTP: protocol, Graph Store, delayed UPDATEs, explanations."""
