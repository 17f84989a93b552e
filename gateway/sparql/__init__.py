"""SPARQL 1.1 Query and Update as values: lexed, parsed and analysed, never executed here."""
