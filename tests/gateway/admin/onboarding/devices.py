"""What devices say of themselves, as recorded ones do, for the tests of onboarding."""

import json


def bridge_devices(*names: str, unit: str = "°C") -> bytes:
    """Zigbee2MQTT's list: thermometers that tell temperature and humidity, and a plug to switch."""
    return json.dumps([_device(number, name, unit) for number, name in enumerate(names)]).encode()


def _device(number: int, name: str, unit: str) -> dict[str, object]:
    exposes: list[dict[str, object]] = [
        {"type": "numeric", "property": "temperature", "unit": unit, "access": 1},
        {"type": "numeric", "property": "humidity", "unit": "%", "access": 1},
    ]
    if name.startswith("plug"):
        state = {"type": "binary", "property": "state", "access": 7}
        words = {"value_on": "ON", "value_off": "OFF"}
        exposes = [{"type": "switch", "features": [{**state, **words}]}]
    return {
        "ieee_address": f"0x00158d000{number:07x}",
        "friendly_name": name,
        "type": "EndDevice",
        "definition": {"model": "T1", "exposes": exposes},
    }
