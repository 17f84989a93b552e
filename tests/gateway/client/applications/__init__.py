"""The applications of SEPA's paper (Roffia et al. 2018, 5.4), agents in processes of their own."""
