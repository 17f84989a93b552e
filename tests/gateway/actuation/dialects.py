"""Devices of each family as simulations that obey commands: what they hear and what they say."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from adapters.sparkplug.payload import Metric, SparkplugPayload, decode_payload, encode_payload
from adapters.sparkplug.value import DATATYPES
from tests.kit.gateways import JsonObject

Publication = tuple[str, bytes]
BOOLEAN = next(code for code, name in DATATYPES.items() if name == "Boolean")
STAMP = 1_795_276_800_000


@dataclass(frozen=True)
class Dialect:
    """How a family is mapped and commanded; `greets` before, `answers` a command's payload."""

    mapping: JsonObject
    actuator: JsonObject
    value: object
    payload: bytes | None
    answers: Callable[[bytes], list[Publication]]
    greets: tuple[Publication, ...] = ()


def _zigbee(payload: bytes) -> list[Publication]:
    state = json.loads(payload)["state"]
    return [("zigbee2mqtt/lamp", json.dumps({"state": state, "linkquality": 80}).encode())]


def _tasmota(payload: bytes) -> list[Publication]:
    return [
        ("stat/lamp/RESULT", b'{"POWER":"' + payload + b'"}'),
        ("stat/lamp/POWER", payload),
    ]


def _shelly(payload: bytes) -> list[Publication]:
    params = json.loads(payload)["params"]
    told = {
        "src": "shelly1",
        "dst": "shelly1/events",
        "method": "NotifyStatus",
        "params": {"ts": 1795276801.5, "switch:0": {"id": 0, "output": params["on"]}},
    }
    return [("shelly1/events/rpc", json.dumps(told).encode())]


def _shelly_cover(payload: bytes) -> list[Publication]:
    call = json.loads(payload)
    assert call["params"] == {"id": 0}
    moves = {"Cover.Open": ("opening", "open"), "Cover.Close": ("closing", "closed")}
    told = {"src": "shelly2", "dst": "shelly2/events", "method": "NotifyStatus"}
    return [
        (
            "shelly2/events/rpc",
            json.dumps(
                told | {"params": {"ts": 1795276801 + at, "cover:0": {"id": 0, "state": state}}}
            ).encode(),
        )
        for at, state in enumerate(moves[call["method"]])
    ]


def _sparkplug(kind: str, value: bool, sequence: int) -> bytes:
    metrics = (
        Metric("bdSeq", None, STAMP, 8, False, False, "long_value", 0),
        Metric("Pump", None, STAMP, BOOLEAN, False, False, "boolean_value", value),
    )
    told = metrics if kind == "NBIRTH" else metrics[1:]
    return encode_payload(SparkplugPayload(STAMP, sequence, told))


def _pump(payload: bytes) -> list[Publication]:
    told = decode_payload(payload)
    assert isinstance(told, SparkplugPayload)
    (metric,) = told.metrics
    assert metric.name == "Pump"
    return [("spBv1.0/plant/NDATA/edge", _sparkplug("NDATA", bool(metric.value), 1))]


def _at(topic: str) -> Callable[[bytes], list[Publication]]:
    return lambda payload: [(topic, payload)]


DIALECTS: dict[str, Dialect] = {
    "zigbee2mqtt": Dialect(
        {"topic": "zigbee2mqtt/lamp", "format": "zigbee2mqtt", "selector": "state"},
        {"topic": "zigbee2mqtt/lamp/set", "payload": '{"state":{value}}', "values": ["ON", "OFF"]},
        True,
        b'{"state":"ON"}',
        _zigbee,
    ),
    "zigbee2mqtt, as it is already": Dialect(
        {"topic": "zigbee2mqtt/lamp", "format": "zigbee2mqtt", "selector": "state"},
        {"topic": "zigbee2mqtt/lamp/set", "payload": '{"state":{value}}', "values": ["ON", "OFF"]},
        True,
        b'{"state":"ON"}',
        _zigbee,
        (("zigbee2mqtt/lamp", b'{"state":"ON","linkquality":70}'),),
    ),
    "tasmota": Dialect(
        {"topic": "stat/lamp/POWER", "format": "tasmota"},
        {"topic": "cmnd/lamp/POWER", "values": ["ON", "OFF"]},
        "ON",
        b"ON",
        _tasmota,
    ),
    "shelly": Dialect(
        {"topic": "shelly1/events/rpc", "format": "shelly", "selector": "switch:0.output"},
        {
            "topic": "shelly1/rpc",
            "payload": '{"id":1,"src":"shelly1","method":"Switch.Set",'
            '"params":{"id":0,"on":{value}}}',
            "values": ["true", "false"],
        },
        True,
        b'{"id":1,"src":"shelly1","method":"Switch.Set","params":{"id":0,"on":true}}',
        _shelly,
    ),
    "shelly, a cover": Dialect(
        {"topic": "shelly2/events/rpc", "format": "shelly", "selector": "cover:0.state"},
        {
            "topic": "shelly2/rpc",
            "format": "shelly",
            "payload": '{"id":1,"src":"shelly2","method":"Cover",'
            '"params":{"id":0,"state":{value}}}',
            "values": ["open", "closed", "stopped"],
        },
        "closed",
        b'{"id":1,"src":"shelly2","method":"Cover.Close","params":{"id":0}}',
        _shelly_cover,
    ),
    "esphome, a cover": Dialect(
        {"topic": "node/cover/blind/state", "format": "esphome"},
        {
            "topic": "node/cover/blind/command",
            "format": "esphome",
            "payload": '{"move":{value}}',
            "values": ["open", "closed", "STOP"],
        },
        "open",
        b"OPEN",
        lambda _: [("node/cover/blind/state", b"opening"), ("node/cover/blind/state", b"open")],
    ),
    "shelly_gen1": Dialect(
        {"topic": "shellies/s-1/relay/0", "format": "shelly_gen1"},
        {"topic": "shellies/s-1/relay/0/command", "values": ["on", "off"]},
        False,
        b"off",
        _at("shellies/s-1/relay/0"),
    ),
    "esphome": Dialect(
        {"topic": "node/switch/relay/state", "format": "esphome"},
        {"topic": "node/switch/relay/command", "values": ["ON", "OFF"]},
        True,
        b"ON",
        _at("node/switch/relay/state"),
    ),
    "homie": Dialect(
        {"topic": "homie/5/boiler/tank/target", "format": "homie", "unit": "°C"},
        {
            "topic": "homie/5/boiler/tank/target/set",
            "minimum": 5,
            "maximum": 60,
            "step": 0.5,
            "unit": "°C",
        },
        42.5,
        b"42.5",
        _at("homie/5/boiler/tank/target"),
        (
            (
                "homie/5/boiler/$description",
                json.dumps(
                    {
                        "homie": "5.0",
                        "version": 1,
                        "nodes": {
                            "tank": {
                                "properties": {
                                    "target": {
                                        "datatype": "float",
                                        "unit": "°C",
                                        "format": "5:60:0.5",
                                        "settable": True,
                                    }
                                }
                            }
                        },
                    }
                ).encode(),
            ),
        ),
    ),
    "homeassistant": Dialect(
        {"topic": "garage/door", "format": "scalar"},
        {
            "topic": "garage/door/set",
            "values": ["OPEN", "CLOSE"],
            "trueValue": "OPEN",
            "falseValue": "CLOSE",
        },
        False,
        b"CLOSE",
        lambda _: [("garage/door", b"closed")],
    ),
    "sparkplug": Dialect(
        {"topic": "spBv1.0/plant/NDATA/edge", "format": "sparkplug", "selector": "Pump"},
        {
            "topic": "spBv1.0/plant/NCMD/edge",
            "format": "sparkplug",
            "payload": '{"metric":"Pump","datatype":"Boolean","value":{value}}',
            "values": ["true", "false"],
        },
        True,
        None,
        _pump,
        (("spBv1.0/plant/NBIRTH/edge", _sparkplug("NBIRTH", False, 0)),),
    ),
    "plain": Dialect(
        {"topic": "heater/setpoint", "format": "json", "selector": "$.target", "unit": "°C"},
        {
            "topic": "heater/set",
            "payload": '{"target":{value}}',
            "unit": "°C",
            "deviceUnit": "°F",
            "tolerance": 0.1,
        },
        20,
        b'{"target":68}',
        lambda _: [("heater/setpoint", b'{"target":20.05}')],
    ),
}
