"""Documents: JSON, CBOR, MessagePack and SenML, whatever device sends them."""
