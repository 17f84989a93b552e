"""Radio: rtl_433, the same by OpenMQTTGateway, and Meshtastic.

All devices that are heard share a topic, the neighbours' too: each device has mappings of its own,
with a condition, so that people take theirs and leave the others.

Sources: merbanan/rtl_433, its page DATA_FORMAT (names and units of members, battery_ok) and
src/output_mqtt.c (decimals have a point, but for 0); OpenMQTTGateway, what it hears by ZgatewayRF
(1technophile/OpenMQTTGateway, main/config_RF.h); Meshtastic,
documentation of the MQTT integration (from, type, id), and its Telemetry and Position messages.
"""

from collections.abc import Iterator, Sequence

from adapters.recipes.recipe import (
    Found,
    Recipe,
    bare,
    bare_shape,
    diagnostic,
    equals,
    known,
    levels_of,
    members,
    read_usual,
    words,
)
from adapters.values.device_time import read_time
from adapters.values.fault import Fault
from adapters.values.meaning import WordTable
from adapters.values.payload import Json, Payload
from adapters.values.properties import Shape
from adapters.values.result import JsonNumber

_WHOSE = ("model", "subtype", "id", "channel")
_NOT_MEASURED = frozenset(
    {
        *(*_WHOSE, "time", "type", "mic", "mod", "protocol", "brand", "seq", "sequence"),
        *("rssi", "snr", "noise", "freq", "freq1", "freq2", "raw", "raw_msg", "data", "code"),
        *("codes", "rows", "flags", "msg_type", "message_type", "count", "num_rows", "len"),
        *("test", "duration", "transmit", "startup", "repeat", "learn", "maybetest"),
    }
)
"""Members that identify a device or tell how it was heard; levels are relative, no dBm."""

_OWN_WORDS = {"moisture": "soil_moisture", "depth_cm": "liquid_level", "storm_dist_km": ""}


def _rtl_433(payload: Payload) -> Iterator[Found]:
    heard = members(payload)
    model = heard.get("model")
    if type(model) is not str:
        return
    told = [(key, heard[key]) for key in _WHOSE if key in heard]
    conditions = [equals(f".{key}", value) for key, value in told]
    if not all(conditions):
        return
    device = _name_of(told)
    reading = {"condition": " && ".join(conditions), "topic_filter": _of_any_receiver(payload)}
    time = heard.get("time")
    if isinstance(time, str) and not isinstance(read_time(time), Fault):
        reading["time_selector"] = "$.time"
    for key, value in heard.items():
        if (
            key.lower() not in _NOT_MEASURED
            and key.isidentifier()
            and isinstance(value, str | bool)
        ):
            yield _member(device, key, value, {**reading, "selector": f"$.{key}"}, heard)


def _member(
    device: str, key: str, value: Json, reading: dict[str, str], heard: dict[str, Json]
) -> Found:
    if key == "battery_ok":
        return _battery(device, value, reading)
    found, question = read_usual(key, value)
    meaning, unit = found.meaning, found.unit
    if _OWN_WORDS.get(key):
        meaning, unit, question = known(_OWN_WORDS[key]), unit or "%", ""
    if key.startswith("pressure") and heard.get("type") == "TPMS":
        meaning, question = known("pressure"), ""
    return Found(device, key, meaning, unit, question, {**reading, **words(meaning, value)})


def _battery(device: str, value: Json, reading: dict[str, str]) -> Found:
    """What knows good and low only says 1 and 0, which is no level; levels have a point."""
    if isinstance(value, JsonNumber) and value not in ("0", "1"):
        level = {**reading, "scale": "100"}
        return Found(device, "battery level", known("battery"), "%", "", level)
    low = {"true_value": "0", "false_value": "1"}
    return Found(device, "battery_ok", known("battery_low"), None, "", {**reading, **low})


def _name_of(told: Sequence[tuple[str, Json]]) -> str:
    """Model, number and channel; without a number the channel is named, or 3 would be either."""
    has_number = any(key == "id" for key, _ in told)
    plain = {"model", "id", "channel"} if has_number else {"model"}
    return "/".join(str(value) if key in plain else f"{key}-{value}" for key, value in told)


def _of_any_receiver(payload: Payload) -> str:
    """The topic with a wildcard for who heard it: several hear one device, which is one mapping."""
    levels = levels_of(payload)
    if len(levels) > 2:
        levels[1] = "+"
    return "/".join(levels)


def _rtl_433_topics(payload: Payload) -> Iterator[Found]:
    """Each member on a topic of its own, behind what identifies the device.

    The same device may be told by events too: its name has the word of the topics before it.
    """
    levels = levels_of(payload)
    device, key = "/".join(levels[2:-1]), levels[-1]
    shape = bare_shape(payload)
    if len(levels) < 5 or key.lower() in _NOT_MEASURED or shape is None:
        return
    text = str(payload.text()).strip()
    value: Json = JsonNumber(text) if shape is Shape.NUMBER else text
    reading = {"topic_filter": _of_any_receiver(payload)}
    yield from bare([_member(device, key, value, reading, {})], payload)


def _raw_433(payload: Payload) -> Iterator[Found]:
    """A code of a remote control, a bell or a contact: each is something of its own."""
    heard = members(payload)
    told = [(key, heard.get(key)) for key in ("protocol", "length", "value")]
    conditions = [equals(f".{key}", value) for key, value in told]
    if not all(conditions) or not all(isinstance(value, JsonNumber) for _, value in told):
        return
    device = "433/" + "/".join(str(value) for _, value in told)
    reading = {"selector": "$.value", "condition": " && ".join(conditions)}
    reading["topic_filter"] = _of_any_receiver(payload)
    yield Found(device, "code", known("action"), None, _PRESSED, reading)


_PRESSED = "Which button, bell or contact sends this code, and of what?"


_MESH = WordTable.of(
    """
    battery             %       battery_level
    voltage             V       voltage
    uptime              s       uptime_seconds
    temperature         Cel     temperature
    humidity            %RH     relative_humidity
    atmospheric_pressure hPa    barometric_pressure
    illuminance         lx      lux
    wind_speed          m/s     wind_speed
    wind_gust           m/s     wind_gust
    wind_direction      °       wind_direction
    weight              kg      weight
    soil_moisture       %       soil_moisture
    soil_temperature    Cel     soil_temperature
    pm1                 ug/m3   pm10_standard
    pm25                ug/m3   pm25_standard
    pm10                ug/m3   pm100_standard
    latitude            °       latitude_i
    longitude           °       longitude_i
    altitude            m       altitude
    own-diagnostic      %       channel_utilization air_util_tx
    own                 MOhm    gas_resistance
    own                 -       iaq distance
    """
)
"""Members of Telemetry and Position; latitude_i counts 1e-7 degrees."""

_INTEGER_DEGREES = "0.0000001"


def _meshtastic(payload: Payload) -> Iterator[Found]:
    heard = members(payload)
    kind, sender, told = heard.get("type"), heard.get("from"), heard.get("payload")
    if kind not in ("telemetry", "position") or type(sender) is not JsonNumber:
        return
    condition = f"{equals('.type', kind)} && {equals('.from', sender)}"
    for key, value in told.items() if isinstance(told, dict) else ():
        if key not in _MESH or not isinstance(value, JsonNumber):
            continue
        reading = {
            "selector": f"$.payload.{key}",
            "condition": condition,
            "sequence_selector": "$.id",
        }
        if isinstance(heard.get("timestamp"), JsonNumber):
            reading["time_selector"] = "$.timestamp"
        if key.endswith("_i"):
            reading["scale"] = _INTEGER_DEGREES
        meaning, member = _MESH.meaning(key), key
        if key == "voltage" and isinstance(told, dict) and "battery_level" in told:
            reading["condition"] += " && @.payload.battery_level"
            meaning, member = known("battery_voltage"), "battery voltage"
        if key in {"channel_utilization", "air_util_tx"}:
            meaning = diagnostic(key)
        yield Found(str(sender), member, meaning, _MESH.unit(key), "", reading)


RECIPES = (
    Recipe("rtl_433", ("rtl_433/events", "rtl_433/+/events"), _rtl_433, shared=True),
    Recipe("rtl_433", ("rtl_433/+/devices/#",), _rtl_433_topics, "scalar"),
    Recipe("openmqttgateway", ("+/+/RTL_433toMQTT", "+/+/RTL_433toMQTT/#"), _rtl_433, shared=True),
    Recipe("openmqttgateway", ("+/+/433toMQTT", "+/+/433toMQTT/#"), _raw_433, shared=True),
    Recipe(
        "meshtastic",
        ("msh/2/json/#", "msh/+/2/json/#", "msh/+/+/2/json/#"),
        _meshtastic,
        shared=True,
    ),
)
