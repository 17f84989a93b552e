"""Both views: what is asserted, and what follows from it."""
