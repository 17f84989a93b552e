"""The family "zigbee2mqtt": states of devices, and what the bridge's list says they expose."""

from adapters.adapter import Format
from adapters.formats.zigbee2mqtt.bridge import propose
from adapters.formats.zigbee2mqtt.state import Zigbee2MqttAdapter, companions, subject

FORMAT = Format(
    Zigbee2MqttAdapter,
    companions=companions,
    subject=subject,
    propose=propose,
    announcements=("+/bridge/devices", "+/bridge/groups"),
)
