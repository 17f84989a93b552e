"""The rules as a naive fixpoint over triples: what the incremental reasoner is held against."""
