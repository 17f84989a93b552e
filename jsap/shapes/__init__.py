"""What the templates of a profile insert, as shapes, and which rows a SPARQL query asks of them.

Beside the profiles because both are functions of a profile alone: `spark_batch` and `gateway`, of
which neither imports the other, answer the same queries over the same rows by them.
"""
