"""The quad store and the way from an UPDATE to its net Delta."""
