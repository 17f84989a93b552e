"""Which link to a broker a gateway has: its own broker, or one that is there."""

from gateway.app.brokers.mqtt import BrokerLink, MqttContext
from gateway.app.brokers.other_broker import OtherBroker
from gateway.app.brokers.own_broker import OwnBroker
from gateway.gates.mqtt.mosquitto.folder import remove


def broker_link(context: MqttContext) -> BrokerLink:
    """The link to the broker of the settings; what a Mosquitto beside reads goes with its mode."""
    mqtt = context.config.mqtt
    if mqtt.mode != "mosquitto":
        remove(mqtt.mosquitto_dir)
    return OwnBroker(context) if mqtt.mode == "embedded" else OtherBroker(context)
