"""Tests of what other worlds are told."""
