"""ORDER BY that is total: of every key, and of what LIMIT takes."""
