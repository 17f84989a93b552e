"""The city of the paper on the SUB engine: streets of lamp-posts, its queries, its experiments."""
