"""Proofs searched backwards: from a conclusion over axioms to what is asserted."""
