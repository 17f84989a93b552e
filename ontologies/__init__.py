"""The vocabularies that the gateway writes, as files beside this module."""
