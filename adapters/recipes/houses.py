"""Houses: Victron, Z-Wave JS UI, ebusd, Frigate, Valetudo.

Sources: victronenergy/dbus-flashmq, README.md (topics, null, empty payloads), and
victronenergy/dbus_modbustcp, attributes.csv (paths of the D-Bus and their units); Z-Wave JS UI, its
page on setup (topics, payload types), zwave-js/zwave-js, packages/core/src/registries (meters,
notifications, sensors) and packages/cc/src/cc/MeterCC.ts (keys of meters); ebusd, wiki page MQTT
client, and john30/ebusd-configuration, _templates.csv (fields and units); blakeblackshear/frigate,
its page MQTT (counts) and frigate/track/object_processing.py (motion); Hypfer/Valetudo, its page
MQTT integration.
"""

import re
from collections.abc import Iterator

from adapters.recipes.recipe import (
    UNIT,
    Found,
    Recipe,
    bare,
    bare_shape,
    known,
    levels_of,
    members,
)
from adapters.values.meaning import Meaning, WordTable, own
from adapters.values.payload import Json, Payload
from adapters.values.properties import Shape
from adapters.values.result import JsonNumber
from adapters.values.units import unit_iri
from adapters.values.usual_words import plain_word

_VICTRON = WordTable.of(
    """
    battery             %       Soc Dc/Battery/Soc
    voltage             V       Dc/#/Voltage Dc/Battery/Voltage Ac/L#/Voltage Pv/V Pv/#/V
    voltage             V       Ac/ActiveIn/L#/V Ac/Out/L#/V
    current             A       Dc/#/Current Dc/Battery/Current Dc/Pv/Current Ac/L#/Current Pv/I
    current             A       Ac/ActiveIn/L#/I Ac/Out/L#/I
    power               W       Dc/#/Power Dc/Battery/Power Dc/Pv/Power Ac/Power Ac/L#/Power
    power               W       Yield/Power Ac/ActiveIn/L#/P Ac/Out/L#/P Pv/#/P
    power               W       Ac/Consumption/L#/Power Ac/Grid/L#/Power Ac/PvOnOutput/L#/Power
    power               W       Ac/PvOnGrid/L#/Power Ac/ConsumptionOnOutput/L#/Power
    frequency           Hz      Ac/ActiveIn/L#/F Ac/Out/L#/F Ac/Frequency Ac/L#/Frequency
    energy              kWh     Ac/Energy/Forward Ac/L#/Energy/Forward
    exported_energy     kWh     Ac/Energy/Reverse Ac/L#/Energy/Reverse
    temperature         Cel     Dc/#/Temperature Dc/Battery/Temperature Temperature
    humidity            %RH     Humidity
    atmospheric_pressure hPa    Pressure
    fill_level          %       Level
    stored_volume       m3      Remaining
    battery_voltage     V       BatteryVoltage
    duration            s       TimeToGo Dc/Battery/TimeToGo
    """
)
"""Paths behind the device instance, `#` for numbers; other paths are settings and texts."""

_KILOWATT = "In watts, as its phases, or in kilowatts, as Victron's list of registers has it?"

_NUMBER = re.compile(r"(?<=/)[0-9]+(?=/)|(?<=/L)[0-9](?=/)")


def _victron(payload: Payload) -> Iterator[Found]:
    levels = levels_of(payload)
    path = "/".join(levels[4:])
    key = _NUMBER.sub("#", f"/{path}/").strip("/")
    heard = members(payload)
    if key not in _VICTRON or not isinstance(heard.get("value"), JsonNumber):
        return
    device = "/".join(levels[1:4])
    meaning, unit = _VICTRON.meaning(key), _VICTRON.unit(key)
    is_doubtful = key == "Ac/Power" and levels[2] == "pvinverter"
    question = _KILOWATT if is_doubtful else ""
    yield Found(device, path, meaning, unit, question, {"selector": "$.value"})


_ZWAVE = {
    "49": "sensor",
    "50": "meter",
    "48": "binary",
    "113": "notification",
    "128": "battery",
    "37": "switch",
    **dict.fromkeys(("sensor_multilevel", "multilevel_sensor"), "sensor"),
    "meter": "meter",
    **dict.fromkeys(("sensor_binary", "binary_sensor"), "binary"),
    "notification": "notification",
    "battery": "battery",
    **dict.fromkeys(("switch_binary", "binary_switch"), "switch"),
}
"""What the command classes say, by number and by name."""

_ZWAVE_SENSORS = WordTable.of(
    """
    temperature         -       airtemperature
    humidity            -       humidity
    illuminance         -       illuminance
    uv_index            /       ultraviolet
    power               -       power
    voltage             -       voltage
    current             -       current
    carbon_dioxide      ppm     carbondioxidecolevel
    water_temperature   -       watertemperature
    soil_temperature    -       soiltemperature
    dew_point           -       dewpoint
    wind_speed          -       velocity
    outdoor_temperature -       outsidetemperature
    """
)
"""Multilevel sensors; those without a unit have one of several, and their values may say which."""

_ZWAVE_METERS = {
    "65537": ("energy", "kWh"),
    "66049": ("power", "W"),
    "66561": ("voltage", "V"),
    "66817": ("current", "A"),
    "67073": ("power_factor", "/"),
}
"""Keys of electric meters, consumption: type * 65536 + scale * 256 + rate."""

_ZWAVE_STATES = {
    "homesecuritymotionsensorstatus": ("motion", ("8", "7"), "0"),
    "homesecuritycoverstatus": ("tamper", ("3",), "0"),
    "accesscontroldoorstate": ("opening", ("22",), "23"),
    "accesscontroldoorstatesimple": ("opening", ("22",), "23"),
    "wateralarmsensorstatus": ("water_leak", ("2", "1"), "0"),
    "smokealarmsensorstatus": ("smoke", ("2", "1"), "0"),
    "heatalarmheatsensorstatus": ("heat_detected", ("2", "1"), "0"),
    "coalarmsensorstatus": ("carbon_monoxide_detected", ("2", "1"), "0"),
}
"""Notifications: the property, the numbers of its event and of its end.

Of two numbers of an event the latter is with the place; a device has either.
"""

_ZWAVE_BINARY = {"motion": "motion", "doorwindow": "opening", "water": "water_leak"} | {
    "smoke": "smoke",
    "tamper": "tamper",
}


def _zwave(payload: Payload) -> Iterator[Found]:
    levels, heard = levels_of(payload), members(payload)
    at = next((n for n in range(2, len(levels) - 1) if levels[n] in _ZWAVE), 0)
    if not at or "value" not in heard or heard["value"] is None:
        return
    behind = levels[at + 1 :]
    if behind[0].isdigit() or behind[0].startswith("endpoint_"):
        behind = behind[1:]
    if not behind:
        return
    told = heard.get("unit")
    unit = told if type(told) is str and told else None
    found = _of_class(_ZWAVE[levels[at]], behind, heard["value"], unit)
    if found is not None:
        meaning, unit, question, reading = found
        time = next((key for key in ("time", "lastUpdate") if key in heard), None)
        if time is not None:
            reading["time_selector"] = f"$.{time}"
        device = "/".join(levels[1:at])
        yield Found(device, "/".join(levels[at:]), meaning, unit, question, reading)


_Read = tuple[Meaning, str | None, str, dict[str, str]]


def _of_class(kind: str, behind: list[str], value: Json, unit: str | None) -> _Read | None:
    name = plain_word("".join(behind))
    reading = {"selector": "$.value"}
    is_number = isinstance(value, JsonNumber)
    if kind == "sensor" and is_number and name in _ZWAVE_SENSORS:
        symbol = (unit if unit_iri(unit) else None) if unit else _ZWAVE_SENSORS.unit(name)
        return _ZWAVE_SENSORS.meaning(name), symbol, "" if symbol else UNIT, reading
    if kind == "meter" and is_number and behind[-1] in _ZWAVE_METERS:
        term, symbol = _ZWAVE_METERS[behind[-1]]
        return known(term), symbol, "", reading
    if kind == "battery" and is_number and name == "level":
        return known("battery"), "%", "", reading
    if kind == "notification" and is_number and name in _ZWAVE_STATES:
        term, events, end = _ZWAVE_STATES[name]
        event = next((each for each in events if each == value), events[0])
        return known(term), None, "", reading | {"true_value": event, "false_value": end}
    if isinstance(value, bool):
        term = _truth(kind, name)
        return (known(term), None, "", reading) if term else None
    return None


def _truth(kind: str, name: str) -> str:
    if kind == "battery" and name == "islow":
        return "battery_low"
    if kind == "switch" and name == "currentvalue":
        return "power_state"
    return _ZWAVE_BINARY.get(name, "") if kind == "binary" else ""


_EBUS = WordTable.of(
    """
    temperature         Cel     temp temp0 temp1 temp2 temps temps2 tempv
    pressure            bar     press pressv
    """
)
"""Fields by the types of ebusd's definitions."""

_WISHED = re.compile(r"desired|setpoint|target|max|min|limit", re.IGNORECASE)
_OUTSIDE = re.compile(r"outside|outdoor", re.IGNORECASE)
_OF_WATER = re.compile(r"hwc|dhw|storage", re.IGNORECASE)


def _ebusd(payload: Payload) -> Iterator[Found]:
    levels = levels_of(payload)
    circuit, message = levels[1], levels[2]
    if circuit == "global":
        return
    for key, told in members(payload).items():
        value = told.get("value") if isinstance(told, dict) else None
        if key in _EBUS and isinstance(value, JsonNumber):
            reading = {"selector": f"$.{key}.value"}
            meaning = _ebus_meaning(key, message)
            member = message if key in {"temp", "press"} else f"{message}/{key}"
            yield Found(circuit, member, meaning, _EBUS.unit(key), "", reading)


def _ebus_meaning(key: str, message: str) -> Meaning:
    meaning = _EBUS.meaning(key)
    if meaning.name != "temperature":
        return own(message) if _WISHED.search(message) else meaning
    if _WISHED.search(message):
        return (
            known("set_point")
            if re.search("desired|setpoint|target", message, re.I)
            else own(message)
        )
    if _OUTSIDE.search(message):
        return known("outdoor_temperature")
    return known("water_temperature") if _OF_WATER.search(message) else meaning


def _frigate(payload: Payload) -> Iterator[Found]:
    _, camera, what = levels_of(payload)
    shape = bare_shape(payload)
    if what == "motion" and shape is Shape.TRUTH:
        yield from bare([Found(camera, what, known("motion"))], payload)
    elif shape is Shape.NUMBER and what.isidentifier():
        meaning = known("people_count") if what == "person" else own(f"{what}_count")
        yield Found(camera, what, meaning)


_VALETUDO = WordTable.of(
    """
    battery             %       BatteryStateAttribute/level
    battery_state       -       BatteryStateAttribute/status
    vacuum_state        -       StatusStateAttribute/status
    duration            s       CurrentStatisticsCapability/time
    own                 cm2     CurrentStatisticsCapability/area
    own                 -       AttachmentStateAttribute/dustbin AttachmentStateAttribute/mop
    own                 -       AttachmentStateAttribute/watertank
    own-setting         -       FanSpeedControlCapability/preset
    """
)


def _valetudo(payload: Payload) -> Iterator[Found]:
    _, robot, capability, attribute = levels_of(payload)
    key = f"{capability}/{attribute}"
    if key in _VALETUDO and bare_shape(payload) is not None:
        found = Found(robot, key, _VALETUDO.meaning(key, word=attribute), _VALETUDO.unit(key))
        yield from bare([found], payload)


RECIPES = (
    Recipe("victron", ("N/+/+/+/#",), _victron),
    Recipe("zwave_js_ui", ("zwave/#",), _zwave),
    Recipe("ebusd", ("ebusd/+/+",), _ebusd),
    Recipe("frigate", ("frigate/+/+",), _frigate, "scalar"),
    Recipe("valetudo", ("valetudo/+/+/+",), _valetudo, "scalar"),
)
