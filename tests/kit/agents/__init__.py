"""Programs around clients of SEPA, each run in that client's own environment."""
