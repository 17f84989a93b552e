"""What a member's name usually measures, in which unit: a hint for proposals, never for decoding.

Place on the way: families without units of their own in their announcements, and unknown messages,
get the hint from here. Words are the device classes of Home Assistant, so that every family says
the same of the same quantity.
"""

import re
from typing import NamedTuple


class Quantity(NamedTuple):
    """A device class, empty where unknown, and the symbol of its usual unit, or None."""

    name: str
    unit: str | None = None


UNKNOWN = Quantity("")

_USUAL = {
    "temperature": Quantity("temperature", "°C"),
    "temp": Quantity("temperature", "°C"),
    "tempc": Quantity("temperature", "°C"),
    "tc": Quantity("temperature", "°C"),
    "dewpoint": Quantity("temperature", "°C"),
    "humidity": Quantity("humidity", "%RH"),
    "hum": Quantity("humidity", "%RH"),
    "rh": Quantity("humidity", "%RH"),
    "pressure": Quantity("atmospheric_pressure", "hPa"),
    "pres": Quantity("atmospheric_pressure", "hPa"),
    "battery": Quantity("battery", "%"),
    "batt": Quantity("battery", "%"),
    "illuminance": Quantity("illuminance", "lx"),
    "lux": Quantity("illuminance", "lx"),
    "voltage": Quantity("voltage", "V"),
    "current": Quantity("current", "A"),
    "power": Quantity("power", "W"),
    "energy": Quantity("energy", "kWh"),
    "frequency": Quantity("frequency", "Hz"),
    "co2": Quantity("carbon_dioxide", "ppm"),
    "carbondioxide": Quantity("carbon_dioxide", "ppm"),
    "pm25": Quantity("pm25", "µg/m³"),
    "pm10": Quantity("pm10", "µg/m³"),
    "moisture": Quantity("moisture", "%"),
    "rssi": Quantity("signal_strength", "dBm"),
    "linkquality": Quantity("signal_strength"),
    "occupancy": Quantity("occupancy"),
    "motion": Quantity("motion"),
    "presence": Quantity("presence"),
    "contact": Quantity("opening"),
    "state": Quantity("power_state"),
}

_NOT_WORD = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 64


def usual_quantity(name: str) -> Quantity:
    """What `name` names, whatever its case and separators; UNKNOWN for most names.

    >>> usual_quantity("Temperature"), usual_quantity("soil_temp")
    (Quantity(name='temperature', unit='°C'), Quantity(name='temperature', unit='°C'))
    """
    words = [word for word in _NOT_WORD.split(name[:_LONGEST_NAME].lower()) if word]
    for known in ("".join(words), *reversed(words)):
        if known in _USUAL:
            return _USUAL[known]
    return UNKNOWN
