"""Meters: wmbusmeters (wireless M-Bus), P1 meters by DSMR-reader, chargers and sun by evcc.

Sources: wmbusmeters/wmbusmeters, README.md, drivers/src (telegrams and their values) and
src/wmbus.cc, mediaTypeJSON (the media); dsmrreader/dsmr-reader, dsmr_mqtt/models/settings and
dsmr_mqtt/admin.py (default topics and fields; phase_power_current and the units are those of Home
Assistant's integration of it); evcc-io/evcc, server/mqtt.go and core/keys (topics), and
marq24/ha-evcc, custom_components/evcc_intg/const.py (units).
"""

from collections.abc import Iterator

from adapters.recipes.recipe import (
    UNIT,
    WHAT,
    Found,
    Recipe,
    bare,
    bare_shape,
    equals,
    known,
    levels_of,
    members,
    read_usual,
)
from adapters.values.device_time import read_time
from adapters.values.fault import Fault
from adapters.values.meaning import WordTable
from adapters.values.payload import Json, Payload
from adapters.values.result import JsonNumber

_WMBUS = WordTable.of(
    """
    power               kW      current_power_consumption_kw current_power_kw power_kw
    exported_energy     kWh     total_energy_production_kwh
    volume_flow_rate    m3/h    volume_flow_m3h current_flow_m3h flow_m3h
    temperature         Cel     flow_temperature_c return_temperature_c external_temperature_c
    temperature         Cel     t1_temperature_c t2_temperature_c current_temperature_c
    temperature         Cel     temperature_c average_temperature_1h_c
    humidity            %RH     relative_humidity_rh current_relative_humidity_rh
    signal_strength     dBm     rssi_dbm
    battery_voltage     V       battery_v
    voltage             V       voltage_at_phase_1_v voltage_at_phase_2_v voltage_at_phase_3_v
    """
)
_NAMES = frozenset({"id", "name", "meter", "media", "device", "_", "timestamp", "meter_type"})


def _wmbusmeters(payload: Payload) -> Iterator[Found]:
    heard = members(payload)
    media, number, name = heard.get("media"), heard.get("id"), heard.get("name")
    condition = equals(".id", number)
    if type(media) is not str or not condition:
        return
    device = str(name if type(name) is str and name else number)
    for key, value in heard.items():
        if key in _NAMES or not isinstance(value, JsonNumber) or not key.isidentifier():
            continue
        reading = {"selector": f"$.{key}", "condition": condition}
        time = heard.get("timestamp")
        if isinstance(time, str) and not isinstance(read_time(time), Fault):
            reading["time_selector"] = "$.timestamp"
        yield _of_meter(device, key, value, media.lower(), reading)


def _of_meter(device: str, key: str, value: Json, media: str, reading: dict[str, str]) -> Found:
    if key in _WMBUS:
        return Found(device, key, _WMBUS.meaning(key), _WMBUS.unit(key), "", reading)
    if key == "total_m3":
        return Found(device, key, known(_volume(media)), "m3", "", reading)
    if key in {"total_kwh", "total_energy_consumption_kwh"}:
        is_heat = media.startswith(("heat", "cool", "warm"))
        return Found(device, key, known("heat_energy" if is_heat else "energy"), "kWh", "", reading)
    found, _ = read_usual(key, value)
    return Found(device, key, found.meaning, found.unit, WHAT, reading)


def _volume(media: str) -> str:
    if media == "gas":
        return "gas"
    return "water" if "water" in media and media != "waste water" else "volume"


_P1 = WordTable.of(
    """
    energy              kWh     electricity_delivered_1 electricity_delivered_2
    exported_energy     kWh     electricity_returned_1 electricity_returned_2
    power               kW      electricity_currently_delivered
    own                 kW      electricity_currently_returned phase_currently_returned_l1
    own                 kW      phase_currently_returned_l2 phase_currently_returned_l3
    power               kW      phase_currently_delivered_l1 phase_currently_delivered_l2
    power               kW      phase_currently_delivered_l3
    voltage             V       phase_voltage_l1 phase_voltage_l2 phase_voltage_l3
    current             A       phase_power_current_l1 phase_power_current_l2
    current             A       phase_power_current_l3
    gas                 m3      extra_device_delivered consumption/gas/delivered
    """
)
"""Fields of a DSMR telegram as DSMR-reader names them; the extra device is mostly a gas meter."""

_EXTRA = "Is the extra device a gas meter? It may be one of water or heat."


def _p1(payload: Payload) -> Iterator[Found]:
    levels = levels_of(payload)
    key = levels[-1] if levels[1] == "reading" else "/".join(levels[1:])
    if key in _P1:
        question = _EXTRA if key == "extra_device_delivered" else ""
        found = Found("dsmr", key, _P1.meaning(key), _P1.unit(key), question)
        yield from bare([found], payload)


def _p1_json(payload: Payload) -> Iterator[Found]:
    """The same fields as one document."""
    heard = members(payload)
    time = heard.get("timestamp")
    is_time = isinstance(time, str) and not isinstance(read_time(time), Fault)
    beside = {"time_selector": "$.timestamp"} if is_time else {}
    for key, value in heard.items():
        if key in _P1 and isinstance(value, str):
            question = _EXTRA if key == "extra_device_delivered" else ""
            reading = {"selector": f"$.{key}", **beside}
            yield Found("dsmr/json", key, _P1.meaning(key), _P1.unit(key), question, reading)


_EVCC = WordTable.of(
    """
    power               W       chargePower gridPower pvPower homePower batteryPower auxPower
    power               W       grid/power pv/power battery/power aux/power
    battery             %       vehicleSoc batterySoc battery/soc
    current             A       chargeCurrent offeredCurrent
    energy              Wh      chargedEnergy sessionEnergy
    energy              kWh     chargeTotalImport grid/energy pv/energy
    plugged_in          -       connected
    battery_charging    -       charging
    own-setting         -       mode enabled
    own-setting         A       maxCurrent minCurrent
    own-setting         %       limitSoc effectiveLimitSoc
    distance            km      vehicleRange vehicleOdometer
    """
)
_ASKED = {
    **dict.fromkeys(("chargeTotalImport", "grid/energy", "pv/energy"), UNIT),
    **dict.fromkeys(
        ("vehicleSoc", "limitSoc", "effectiveLimitSoc"),
        "Is it a vehicle? For what heats, this is a temperature in °C.",
    ),
}


def _evcc(payload: Payload) -> Iterator[Found]:
    levels = levels_of(payload)
    behind = levels[3:] if levels[1] == "loadpoints" else levels[2:]
    key = "/".join(level for level in behind if not level.isdigit())
    if key not in _EVCC or bare_shape(payload) is None:
        return
    device = "/".join(levels[1:3]) if levels[1] == "loadpoints" else "site"
    member = "/".join(behind)
    question = _ASKED.get(key, "")
    found = Found(device, member, _EVCC.meaning(key), _EVCC.unit(key), question)
    yield from bare([found], payload)


RECIPES = (
    Recipe("wmbusmeters", ("wmbusmeters",), _wmbusmeters, shared=True),
    Recipe("wmbusmeters", ("wmbusmeters/+",), _wmbusmeters),
    Recipe("dsmr", ("dsmr/reading/+", "dsmr/consumption/+/+"), _p1, "scalar"),
    Recipe("dsmr", ("dsmr/json",), _p1_json),
    Recipe("evcc", ("evcc/loadpoints/+/+", "evcc/site/#"), _evcc, "scalar"),
)
