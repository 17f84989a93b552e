"""Jobs: each reads, transforms and commits; each is idempotent and says what it did."""
