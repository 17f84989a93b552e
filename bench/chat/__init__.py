"""The chat of SEPA's paper."""
