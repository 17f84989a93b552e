"""The SUB engine: which query results an UPDATE added and removed."""
