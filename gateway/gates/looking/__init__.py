"""Looking into a running gateway by HTTP: why, what flows, who is there, what is in force."""
