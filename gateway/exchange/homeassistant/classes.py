"""What a property is in Home Assistant: device class, state class, unit, icon and category.

Place: asked by `description` for each stream and actuator. Classes are those of Home Assistant
2024.3; a class that a version does not know has the whole announcement refused, so what came later
is left out. A class whose units do not fit the stream's is not given.
Source: Home Assistant's documentation of the device classes of sensors and binary sensors.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.values.properties import BASE, VOCABULARY, Kind, Property
from gateway.exchange.homeassistant.units import SYMBOLS, symbol_for

_SENSORS = """
temperature: temperature outdoor_temperature floor_temperature water_temperature soil_temperature
    dew_point apparent_temperature device_temperature set_point cooling_set_point
    target_temperature_low target_temperature_high;
humidity: humidity target_humidity;
moisture: moisture soil_moisture;
atmospheric_pressure: atmospheric_pressure sea_level_pressure;
pressure: pressure vapour_pressure_deficit;
illuminance: illuminance; irradiance: irradiance; sound_pressure: sound_pressure;
wind_speed: wind_speed wind_gust; speed: speed;
precipitation: precipitation; precipitation_intensity: precipitation_intensity;
distance: distance lightning_distance liquid_level altitude;
carbon_dioxide: carbon_dioxide; carbon_monoxide: carbon_monoxide; aqi: air_quality_index;
volatile_organic_compounds: volatile_organic_compounds;
volatile_organic_compounds_parts: volatile_organic_compounds_parts;
pm1: pm1; pm25: pm25; pm10: pm10; ozone: ozone; sulphur_dioxide: sulphur_dioxide;
nitrogen_dioxide: nitrogen_dioxide; nitrogen_monoxide: nitrogen_monoxide;
nitrous_oxide: nitrous_oxide;
power: power; apparent_power: apparent_power; reactive_power: reactive_power;
power_factor: power_factor; voltage: voltage battery_voltage; current: current;
frequency: frequency; energy_storage: stored_energy;
energy: energy exported_energy energy_today exported_energy_today heat_energy;
water: water; gas: gas; volume_storage: volume stored_volume; volume_flow_rate: volume_flow_rate;
weight: weight; duration: duration uptime; data_rate: data_rate; data_size: data_size free_memory;
ph: ph; battery: battery; signal_strength: signal_strength signal_to_noise
"""

_BINARY_SENSORS = """
battery: battery_low; battery_charging: battery_charging; carbon_monoxide: carbon_monoxide_detected;
cold: cold_detected; connectivity: connectivity; opening: opening valve_open; gas: gas_detected;
heat: heat_detected overheated; light: light_detected; lock: locked; moisture: water_leak;
motion: motion; moving: moving; occupancy: occupancy; plug: plugged_in external_power;
power: power_detected power_state; presence: presence; problem: problem; running: running;
safety: unsafe; smoke: smoke; sound: sound_detected glass_break; tamper: tamper;
update: update_available; vibration: vibration
"""

_COUNTERS = frozenset(
    {
        *("energy", "exported_energy", "energy_today", "exported_energy_today", "heat_energy"),
        *("apparent_energy", "reactive_energy", "exported_reactive_energy", "charge"),
        *("water", "gas", "pulse_count", "lightning_count", "restart_count"),
    }
)
"""Numbers that only grow until they begin anew."""

_ICONS = {
    "link_quality": "mdi:signal",
    "signal_quality": "mdi:signal",
    "wind_direction": "mdi:compass",
    "heading": "mdi:compass",
    "uv_index": "mdi:sun-wireless",
    "fill_level": "mdi:gauge",
    "people_count": "mdi:account-group",
    "rain": "mdi:weather-rainy",
    "alarm": "mdi:alarm-light",
    "action": "mdi:gesture-tap-button",
    "event": "mdi:bell",
    "brightness": "mdi:brightness-6",
    "position": "mdi:arrow-up-down",
    "valve_position": "mdi:valve",
    "fan_speed": "mdi:fan",
    "fan_mode": "mdi:fan",
    "hvac_mode": "mdi:thermostat",
    "hvac_action": "mdi:thermostat",
    "preset_mode": "mdi:thermostat",
    "firmware_version": "mdi:chip",
    "latest_firmware_version": "mdi:chip",
    "ip_address": "mdi:ip-network",
    "child_lock": "mdi:lock",
    "conductivity": "mdi:flash",
}
"""Where no device class gives one."""


def _by_property(table: str) -> Mapping[str, str]:
    """From the name of a property to its class."""
    entries = (entry.split(":") for entry in table.split(";"))
    return {name: kind.strip() for kind, names in entries for name in names.split()}


SENSORS = _by_property(_SENSORS)
BINARY_SENSORS = _by_property(_BINARY_SENSORS)

ON_IS_FALSE = frozenset({"locked"})
"""Properties whose true is `off` there: a lock that is on is open."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a property is there: members of an announcement, empty for what is not said."""

    device_class: str = ""
    state_class: str = ""
    unit: str = ""
    category: str = ""
    icon: str = ""

    def members(self) -> dict[str, str]:
        """By the names of Home Assistant."""
        said = {
            "device_class": self.device_class,
            "state_class": self.state_class,
            "unit_of_measurement": self.unit,
            "entity_category": self.category,
            "icon": self.icon,
        }
        return {name: value for name, value in said.items() if value}


def term_of(observed_property: str) -> Property | None:
    """The term of the vocabulary that an IRI is; None for a name of somebody's own."""
    if not observed_property.startswith(BASE):
        return None
    return VOCABULARY.get(observed_property.removeprefix(BASE))


def of_number(term: Property | None, unit: str | None) -> Meaning:
    """What a number in a unit (QUDT IRI) is.

    >>> from gateway.rdf.namespaces import UNIT
    >>> of_number(VOCABULARY["energy"], UNIT + "KiloW-HR").members()
    {'device_class': 'energy', 'state_class': 'total_increasing', 'unit_of_measurement': 'kWh'}
    """
    name = "" if term is None else term.name
    device_class = SENSORS.get(name, "")
    symbol = symbol_for(device_class, unit) if device_class else None
    if symbol is None:
        device_class, symbol = "", SYMBOLS.get(unit or "", "")
    return Meaning(
        device_class,
        "total_increasing" if name in _COUNTERS else "measurement",
        symbol,
        _category(term),
        "" if device_class else _ICONS.get(name, ""),
    )


def of_truth(term: Property | None) -> Meaning:
    """What is on or off."""
    name = "" if term is None else term.name
    device_class = BINARY_SENSORS.get(name, "")
    icon = "" if device_class else _ICONS.get(name, "")
    return Meaning(device_class, category=_category(term), icon=icon)


def of_word(term: Property | None) -> Meaning:
    """What is told in words."""
    name = "" if term is None else term.name
    return Meaning(category=_category(term), icon=_ICONS.get(name, ""))


def _category(term: Property | None) -> str:
    """Home Assistant has settings that are only read among what the device says of itself."""
    is_of_device = term is not None and term.kind in {Kind.DIAGNOSTIC, Kind.SETTING}
    return "diagnostic" if is_of_device else ""
