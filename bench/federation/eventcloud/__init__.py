"""EventCloud's algorithms CSMA and OSMA, reconstructed of its paper, and naive flooding.

None of this is in the product. Source, of all modules here: Pellegrino, Huet, Baude and Alshabani,
"A Distributed Publish/Subscribe System for RDF Data", 2013 (docs/eventcloud.md).
"""
