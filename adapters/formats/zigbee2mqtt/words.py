"""What the names of Zigbee2MQTT's exposes mean, in the vocabulary of properties.

Place on the way: discovery of the family. A name counts as a whole, without its endpoint (`l1`,
`left`), and in the group that it stands in: `state` of a lock is no `state` of a lamp. What stands
in no table keeps its own name.
Source: the exposes of zigbee-herdsman-converters, and Zigbee2MQTT's documentation of them.
"""

from collections.abc import Mapping

from adapters.values.meaning import Meaning, Told, meaning, named, own
from adapters.values.properties import VOCABULARY, Shape

_TABLE = """
temperature            temperature external_temperature
outdoor_temperature    outdoor_temperature outdoor_air_temperature
floor_temperature      floor_temperature
water_temperature      water_temperature
soil_temperature       soil_temperature
temperature            local_temperature current_temperature
dew_point              dew_point
apparent_temperature   wind_chill heat_index
device_temperature     device_temperature cpu_temperature internalTemperature
humidity               humidity
absolute_humidity      absolute_humidity
soil_moisture          soil_moisture
conductivity           ec
ph                     ph
atmospheric_pressure   pressure
pressure               bar psi water_pressure
vapour_pressure_deficit vpd
illuminance            illuminance illuminance_lux ambient_light
uv_index               uv_index
sound_pressure         noise noise_level
wind_speed             wind_speed
wind_direction         wind_direction
precipitation          precipitation
precipitation_intensity rain_rate
carbon_dioxide         co2 eco2
carbon_monoxide|carbon_monoxide_detected co
carbon_monoxide_detected carbon_monoxide
volatile_organic_compounds|volatile_organic_compounds_parts voc tvoc
voc_index              voc_index
air_quality_index      aqi
formaldehyde           hcho formaldehyde formaldehyd formaldehyde_concentration
pm1                    pm1
pm25                   pm25
pm4                    pm4
pm10                   pm10
ammonia                nh3
gas_detected|gas|gas_concentration gas
gas_concentration      gas_value
frequency              ac_frequency frequency
voltage                mains_voltage
power_factor           power_factor
energy_today           energy_today
energy_yesterday       energy_yesterday
exported_energy_today  output_energy_today
power                  total_power
apparent_power         total_power_apparent
reactive_power         total_power_reactive
energy                 total_energy energy_consumed total_energy_consumption energy_all energy_wh
water                  water_consumed water_consumed_total water_total
volume_flow_rate       flow flow_rate water_current
liquid_level           water_level liquid_depth
distance               distance
angle                  angle_x angle_y angle_z
pulse_count            pulse_count
people_count           people
opening                contact garage_door_contact window_open window door_state door_open
motion                 motion
occupancy              occupancy
presence               presence
moving                 moving
vibration              vibration
water_leak             water_leak water_leak_alarm_1 water_leak_alarm_2
rain                   rain rain_status
smoke                  smoke
sound_detected         noise_detected
tilted                 tilted
alarm                  alarm
running                running
valve_open             valve_state valve
valve_state            valve_state
power_state            state
effect                 effect
hvac_mode              system_mode
hvac_action            running_state
heating_demand         pi_heating_demand
cover_state            cover_state curtain_status_1 curtain_status_2 motor_state
valve_position         valve_position
fan_speed              fan_speed
set_point              current_heating_setpoint occupied_heating_setpoint target_temperature
cooling_set_point      occupied_cooling_setpoint
power_on_behavior      power_on_behavior
child_lock             child_lock
battery                battery
battery_low            battery_low
battery_state          battery_state battery_level
battery_voltage        battery_voltage
battery_charging       charging charging_status
signal_strength        rssi last_message_rssi
link_quality           linkquality
uptime                 uptime
restart_count          power_outage_count reboot_count
tamper                 tamper
problem                fault_alarm fault trouble
ip_address             ip_address
action                 action click
"""

_OF_PHASES = """
power                  power
apparent_power         power_apparent
reactive_power         power_reactive
power_factor           power_factor
voltage                voltage
current                current
energy                 energy
exported_energy        produced_energy energy_produced reverse_energy
reactive_energy        energy_reactive reactive_energy
"""
_PHASES = (
    *("", "_a", "_b", "_c", "_phase_a", "_phase_b", "_phase_c", "_l1", "_l2", "_l3", "_neutral"),
    *("_tier_1", "_tier_2", "_tier_3", "_tier_4", "_t1", "_t2", "_t3", "_t4"),
)

# The group that a name stands in, and what it is there.
_IN_GROUPS: Mapping[str, Mapping[str, str]] = {
    "lock": {"state": "locked", "lock_state": "lock_state"},
    "cover": {"state": "cover_state", "position": "position", "tilt": "tilt_position"},
    "fan": {"mode": "fan_mode", "speed": "fan_speed"},
    "light": {
        "brightness": "brightness",
        "color_temp": "color_temperature",
        "hue": "hue",
        "saturation": "saturation",
        "x": "color_x",
        "y": "color_y",
    },
    "climate": {
        "preset": "preset_mode",
        "fan_mode": "fan_mode",
        "swing_mode": "swing_mode",
    },
}


def _words() -> dict[str, str]:
    lines = [line.split() for line in _TABLE.strip().splitlines()]
    found: dict[str, list[str]] = {}
    for term, *names in lines:
        for name in names:
            found.setdefault(name, []).append(term)
    for term, *names in (line.split() for line in _OF_PHASES.strip().splitlines()):
        for name in names:
            for phase in _PHASES:
                found.setdefault(name + phase, [term])
    return {name: "|".join(choice) for name, choice in found.items()}


_WORDS = _words()
CONTACTS = frozenset({"contact", "garage_door_contact"})
"""True where it is closed, and so the other way round than opening."""

_BATTERY_VOLTAGE = "battery_voltage"


def expose_meaning(group: str, name: str, told: Told, *, is_on_battery: bool) -> Meaning:
    """What an expose means; `group` is the type of the group that it stands in, empty outside.

    The voltage of what is fed by a battery is that of the battery.
    """
    if name == "voltage" and (is_on_battery or told.unit == "mV"):
        return named(_BATTERY_VOLTAGE, name, told)
    if name == "illuminance" and told.unit is None:
        return own(name, told)  # a raw number, beside which illuminance_lux stands
    there = _IN_GROUPS.get(group, {}).get(name)
    if there is not None:
        return named(there, name, told)
    if name == "state" and group not in {"", "switch", "light", "fan", "climate"}:
        return own(name, told)
    return meaning(_WORDS, name, told)


def is_truth(found: Meaning) -> bool:
    """Whether the values are true or false by the vocabulary."""
    return found.is_known and VOCABULARY[found.name].shape is Shape.TRUTH
