"""The graph as programs of other worlds know it: Home Assistant's entities, OGC's SensorThings."""
