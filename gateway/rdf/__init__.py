"""RDF values: terms, namespaces, the algebra of changes and of solutions."""
