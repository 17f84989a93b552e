"""One question over many gateways: replicas of what members say, kept exact over bad links."""
