"""What Home Assistant's device classes mean, in the vocabulary of properties.

Place on the way: discovery of the family. A class says what is measured, not of what: the entity's
whole name may be a narrower property (`Dew point` of the class temperature), and a name with a
word that contradicts (`Target temperature`, `Energy export`) keeps its own. What has no class is
known only where its whole name and its unit agree; nothing is guessed from a part of a name.
Source: Home Assistant's documentation of the device classes of each kind of entity.
"""

import re
from collections.abc import Mapping

from adapters.values.meaning import Meaning, Told, named, own
from adapters.values.properties import VOCABULARY, Kind
from adapters.values.usual_words import usual

_OF_SENSORS = """
absolute_humidity absolute_humidity; apparent_power apparent_power; aqi air_quality_index;
atmospheric_pressure atmospheric_pressure; battery battery;
carbon_dioxide carbon_dioxide;
carbon_monoxide carbon_monoxide; conductivity conductivity; current current; data_rate data_rate;
data_size data_size; distance distance; duration duration; energy energy;
energy_storage stored_energy; frequency frequency; gas gas; humidity humidity;
illuminance illuminance; irradiance irradiance; moisture moisture;
nitrogen_dioxide nitrogen_dioxide; nitrogen_monoxide nitrogen_monoxide;
nitrous_oxide nitrous_oxide; ozone ozone; ph ph; pm1 pm1; pm10 pm10; pm25 pm25; pm4 pm4;
power power; power_factor power_factor; precipitation precipitation;
precipitation_intensity precipitation_intensity; pressure pressure; reactive_energy reactive_energy;
reactive_power reactive_power; signal_strength signal_strength; sound_pressure sound_pressure;
speed speed; sulphur_dioxide sulphur_dioxide; temperature temperature;
volatile_organic_compounds volatile_organic_compounds;
volatile_organic_compounds_parts volatile_organic_compounds_parts; voltage voltage; volume volume;
volume_flow_rate volume_flow_rate; volume_storage stored_volume; water water; weight weight;
wind_direction wind_direction; wind_speed wind_speed
"""

_OF_BINARY_SENSORS = """
battery battery_low; battery_charging battery_charging; carbon_monoxide carbon_monoxide_detected;
cold cold_detected; connectivity connectivity; door opening; garage_door opening; gas gas_detected;
heat heat_detected; light light_detected; lock locked; moisture water_leak; motion motion;
moving moving; occupancy occupancy; opening opening; plug plugged_in; power power_detected;
presence presence; problem problem; running running; safety unsafe; smoke smoke;
sound sound_detected; tamper tamper; update update_available; vibration vibration; window opening
"""


def _pairs(table: str) -> dict[str, str]:
    words = table.replace(";", " ").split()
    return dict(zip(words[::2], words[1::2], strict=True))


SENSORS: Mapping[str, str] = _pairs(_OF_SENSORS)
BINARY_SENSORS: Mapping[str, str] = _pairs(_OF_BINARY_SENSORS)

ON_IS_FALSE = frozenset({"lock"})
"""Classes of binary sensors whose `on` means that our property is false: an open lock is on."""

OPENINGS = frozenset({"door", "garage", "gate", "window"})
"""Classes of covers that are openings; an open blind is no open window."""

_NARROWER: Mapping[str, frozenset[str]] = {
    "temperature": frozenset(
        {
            *("dew_point", "apparent_temperature", "soil_temperature", "water_temperature"),
            *("outdoor_temperature", "device_temperature", "floor_temperature"),
        }
    ),
    "voltage": frozenset({"battery_voltage"}),
    "moisture": frozenset({"soil_moisture"}),
    "energy": frozenset({"exported_energy", "energy_today", "energy_yesterday"}),
    "atmospheric_pressure": frozenset({"sea_level_pressure"}),
    "wind_speed": frozenset({"wind_gust"}),
    "duration": frozenset({"uptime"}),
}
"""Properties that a class may be, where the whole name of the entity says so."""

_OTHERWISE = frozenset(
    {
        *("target", "setpoint", "calibration", "offset", "threshold", "limit", "hysteresis"),
        *("minimum", "maximum", "min", "max", "average", "mean", "deviation", "trend"),
        "forecast",
    }
)
"""With one of these words in its name something is not what its class measures."""

_OTHER_ENERGY = frozenset(
    {
        *("export", "exported", "returned", "return", "produced", "production", "generated"),
        *("generation", "feed", "injected", "injection", "yield", "delivered", "solar", "pv"),
        *("discharge", "discharged", "charge", "charged", "today", "daily", "yesterday"),
        *("month", "monthly", "week", "weekly", "year", "yearly", "hour", "hourly"),
    }
)
"""Energy that may be another than what was drawn since the counter began."""

_NAMES = {"child_lock": "child_lock", "power_on_behavior": "power_on_behavior"}
_WORD = re.compile(r"[\W_]+")
_LONGEST_NAME = 64


def slug(name: str) -> str:
    """A name as one word: small letters, and one line where something else stands.

    >>> slug("Power-on behavior (left)")
    'power_on_behavior_left'
    """
    return _WORD.sub("_", name[:_LONGEST_NAME].lower()).strip("_")


def sensor_meaning(device_class: str, name: str, told: Told) -> Meaning:
    """What a sensor tells; `name` is the entity's own, which does not matter to most classes."""
    word = slug(name)
    term = SENSORS.get(device_class)
    if term is None:
        has_agreed = not device_class and bool(told.unit)
        return usual(name, told).meaning if has_agreed else own(word, told)
    if word in _NARROWER.get(term, ()):
        return named(word, word, told)
    narrower = _narrower(term, name, told)
    if narrower is not None:
        return narrower
    doubtful = _OTHERWISE | _OTHER_ENERGY if term == "energy" else _OTHERWISE
    if doubtful.intersection(word.split("_")):
        return own(word, told)
    return named(term, word, told)


def _narrower(term: str, name: str, told: Told) -> Meaning | None:
    found = usual(name, told).meaning
    return found if found.is_known and found.name in _NARROWER.get(term, ()) else None


def binary_meaning(device_class: str, name: str, told: Told) -> Meaning:
    """What a binary sensor tells; what has no class keeps its name."""
    term = BINARY_SENSORS.get(device_class)
    return own(slug(name), told) if term is None else named(term, slug(name), told)


def switch_meaning(name: str, told: Told) -> Meaning:
    """What a switch tells: that of a setting is no power."""
    word = slug(name)
    if word in _NAMES and VOCABULARY[_NAMES[word]].shape is told.shape:
        return named(_NAMES[word], word, told)
    return own(word, told) if told.kind is Kind.SETTING else named("power_state", word, told)


def choice_meaning(name: str, told: Told) -> Meaning:
    """What a select, number or text tells: settings, known by their whole names alone."""
    word = slug(name)
    if word in _NAMES and VOCABULARY[_NAMES[word]].shape is told.shape:
        return named(_NAMES[word], word, told)
    return own(word, told)


def event_meaning(device_class: str, name: str, told: Told) -> Meaning:
    """What an event tells: what somebody did to a button, or what happened."""
    return named(_EVENTS.get(device_class, "event"), slug(name), told)


_EVENTS = {"button": "action", "doorbell": "action"}
