"""The JSON interface of administration: mappings, actuators, quarantine, rehearsals."""
