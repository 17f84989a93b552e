"""OGC SensorThings API by HTTP and MQTT: a thin gate before `gateway.exchange.sensorthings`."""
