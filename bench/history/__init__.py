"""`bench history`: years of one stream out of an archive, by HTTP."""
