"""The city of the SUB engine's paper: streets of lamp-posts, queries and ways to answer them."""
