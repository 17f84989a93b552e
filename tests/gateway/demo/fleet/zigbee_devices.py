"""What the Zigbee devices of a simulated home are: their leaves, as a bridge lists them.

Written from Zigbee2MQTT's documentation of exposes; what each leaf means is told here in words of
ontologies/properties.ttl, by hand: nothing of the adapters is asked.
"""

from dataclasses import dataclass, field
from typing import Any

Value = bool | int | float | str


@dataclass(frozen=True)
class Leaf:
    """A published attribute; `quantity` is the property it is of, empty where nobody takes it.

    `true` is the word that says true of the property, where the property is true or false.
    """

    member: str
    quantity: str
    expose: dict[str, Any] = field(hash=False)
    unit: str | None = None
    true: Value | None = None
    group: str = ""

    def observed(self, value: Value) -> Value:
        """What is so when the device tells this."""
        return value if self.true is None else value == self.true


def numeric(
    member: str, quantity: str, symbol: str = "", unit: str | None = None, **more: Any
) -> Leaf:
    """A number with the symbol that the bridge writes and the QUDT unit that it is."""
    group = more.pop("group", "")
    expose = {"type": "numeric", "name": member, "property": member, "access": 1, **more}
    return Leaf(member, quantity, expose | ({"unit": symbol} if symbol else {}), unit, group=group)


def binary(member: str, quantity: str, *, on: Value, off: Value, true: Value, **more: Any) -> Leaf:
    """One of two words, of which `true` says true of the property."""
    group = more.pop("group", "")
    expose = {"type": "binary", "name": member, "property": member, "access": 1, **more}
    return Leaf(
        member, quantity, {**expose, "value_on": on, "value_off": off}, true=true, group=group
    )


def enum(member: str, quantity: str, *values: str, **more: Any) -> Leaf:
    """One of several words."""
    group = more.pop("group", "")
    expose = {"type": "enum", "name": member, "property": member, "access": 1, **more}
    return Leaf(member, quantity, {**expose, "values": list(values)}, group=group)


DIAGNOSTIC = "diagnostic"
BATTERY = numeric("battery", "battery", "%", "PERCENT", category=DIAGNOSTIC)
LINK = numeric("linkquality", "link_quality", "lqi", category=DIAGNOSTIC)

CONTACT = (
    binary("contact", "opening", on=False, off=True, true=False),
    BATTERY,
    numeric("voltage", "battery_voltage", "mV", "MilliV", category=DIAGNOSTIC),
    LINK,
)
MOTION = (
    binary("occupancy", "occupancy", on=True, off=False, true=True),
    numeric("illuminance", "illuminance", "lx", "LUX"),
    BATTERY,
    LINK,
)
CLIMATE = (
    numeric("temperature", "temperature", "°C", "DEG_C"),
    numeric("humidity", "humidity", "%", "PERCENT_RH"),
    numeric("pressure", "atmospheric_pressure", "hPa", "HectoPA"),
    BATTERY,
    LINK,
)
PLUG = (
    binary("state", "power_state", on="ON", off="OFF", true="ON", access=7, group="switch"),
    numeric("power", "power", "W", "W"),
    numeric("energy", "energy", "kWh", "KiloW-HR"),
    numeric("voltage", "voltage", "V", "V"),
    LINK,
)
LAMP = (
    binary("state", "power_state", on="ON", off="OFF", true="ON", access=7, group="light"),
    numeric("brightness", "brightness", access=7, value_min=0, value_max=254, group="light"),
    numeric("color_temp", "color_temperature", "mired", "PER-MegaK", access=7, group="light"),
    LINK,
)
BLIND = (
    enum("state", "cover_state", "OPEN", "CLOSE", "STOP", access=3, group="cover"),
    numeric("position", "position", "%", "PERCENT", access=7, group="cover"),
    LINK,
)
BUTTON = (enum("action", "action", "single", "double", "hold"), BATTERY, LINK)
VALVE = (
    numeric("local_temperature", "temperature", "°C", "DEG_C", access=5, group="climate"),
    numeric("occupied_heating_setpoint", "set_point", "°C", "DEG_C", access=7, group="climate"),
    enum("system_mode", "hvac_mode", "off", "heat", "auto", access=7, group="climate"),
    BATTERY,
    LINK,
)
KINDS: dict[str, tuple[int, tuple[Leaf, ...]]] = {
    "contact": (8, CONTACT),
    "motion": (6, MOTION),
    "climate": (6, CLIMATE),
    "plug": (5, PLUG),
    "lamp": (4, LAMP),
    "blind": (2, BLIND),
    "button": (2, BUTTON),
    "valve": (2, VALVE),
}
"""How many of each kind are in the home, and what one tells."""


def exposes(leaves: tuple[Leaf, ...]) -> list[dict[str, Any]]:
    """As a definition lists them: what is of a light, switch, cover or climate in one group."""
    listed = [leaf.expose for leaf in leaves if not leaf.group]
    for group in sorted({leaf.group for leaf in leaves if leaf.group}):
        features = [leaf.expose for leaf in leaves if leaf.group == group]
        listed.append({"type": group, "features": features})
    return listed
