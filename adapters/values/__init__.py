"""Values: messages, observations, mappings, streams, units; what everything else stands on."""
