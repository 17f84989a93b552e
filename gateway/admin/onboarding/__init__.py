"""Getting to know devices: unknown topics, proposals, trials of messages, changes of mappings."""
