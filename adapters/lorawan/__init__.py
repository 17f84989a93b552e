"""LoRaWAN: uplinks of any network server, and byte tables of device models."""
