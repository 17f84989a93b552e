"""What tests and demonstrations need: fleets of simulated gateways."""
