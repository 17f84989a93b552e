"""The applications of SEPA's paper (seed 001, 5.4) as agents in processes of their own."""
