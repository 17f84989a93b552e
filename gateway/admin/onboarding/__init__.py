"""Getting to know devices: what a message would be, unknown topics, proposals, changed mappings.

Place on the way of the data: beside ingest, which tells of messages that no mapping knows; what is
confirmed here becomes mappings in the graph that ingest's registry is made of.
"""
