"""Sparkplug over real sockets: births asked for, copies dropped, the STATE of the host."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from adapters.sparkplug.payload import (
    REBIRTH,
    Metric,
    SparkplugPayload,
    decode_payload,
    encode_payload,
)
from adapters.sparkplug.value import Value, array_text, value_of
from adapters.values.fault import Fault
from adapters.values.result import Result
from gateway.config.settings import SparkplugSettings
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    VALUES,
    WAIT_S,
    Device,
    JsonObject,
    behind,
    mapping,
    mosquitto,
    publish,
    rows_of,
    running,
    settings,
    watch,
    write_profile,
)
from tests.paths import ROOT

CLIENT = ROOT / ".venv" / "clients" / "sparkplug" / "bin" / "python"
TOPIC = "spBv1.0/plant1/DDATA/edge7/press3"
COMMANDS = "spBv1.0/plant1/NCMD/edge7"
STAMP = int(time() * 1000)


def metric_mapping(name: str) -> JsonObject:
    return mapping(name, TOPIC, format="sparkplug", selector=name)


TEMPERATURE = metric_mapping("Temperature")
LEVEL = metric_mapping("Level")
ABSENT = PREFIXES + "SELECT ?feature { ?stream gw:absentSince ?at ; gw:ofFeature ?feature }"
BY_PROPERTY = f"""{PREFIXES}SELECT ?property ?value {{
  ?o sosa:observedProperty ?property ; sosa:hasSimpleResult ?value }}"""


def sent(kind: str, sequence: int, value: float, stamp: int, name: str = "") -> tuple[str, bytes]:
    levels = "edge7/press3" if kind.startswith("D") else "edge7"
    datatype = 9 if name else 0
    metric = Metric(name, 7, stamp, datatype, False, False, "float_value", value)
    metrics = (metric,) if kind.startswith("D") else ()
    payload = SparkplugPayload(stamp, sequence, metrics)
    return f"spBv1.0/plant1/{kind}/{levels}", encode_payload(payload)


@pytest.mark.parametrize("mode", ["embedded", "mosquitto"])
async def test_births_are_asked_for_and_data_believed_after_them(mode: str, tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with behind(mode, tmp_path, profile, TOPIC) as (gateway, port):
        told = await watch(gateway, VALUES)
        with Device(port, "node") as node:
            await asyncio.to_thread(node.subscribe, COMMANDS)
            node.send(*sent("DDATA", 5, 99.0, STAMP))
            topic, payload = await asyncio.to_thread(node.receive)
            command = decode_payload(payload)
            assert topic == COMMANDS
            assert isinstance(command, SparkplugPayload)
            assert [(each.name, each.value) for each in command.metrics] == [(REBIRTH, True)]
            copy = sent("DDATA", 2, 21.5, STAMP + 2)
            lives = [
                sent("NBIRTH", 0, 0, STAMP),
                sent("DBIRTH", 1, 20.5, STAMP + 1, "Temperature"),
                copy,
                copy,
                sent("DDATA", 3, 22.5, STAMP + 3),
            ]
            await asyncio.to_thread(node.publish, lives)
            await told.until(lambda: told.values()[-1:] == ["22.5"])
        assert told.values() == ["20.5", "21.5", "22.5"]
        assert node.waiting == 0


async def test_node_that_does_not_listen_is_asked_seldom(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE, mapping("t", "room/+", selector="$.t")])
    async with running(settings(tmp_path, profile)) as gateway:
        told = await watch(gateway, VALUES)
        with Device(gateway.mqtt_port, "node") as node:
            await asyncio.to_thread(node.subscribe, COMMANDS)
            messages = [sent("DDATA", n, 1.0, STAMP + n) for n in range(50)]
            await asyncio.to_thread(node.publish, [*messages, ("room/a", b'{"t":1}')])
            await told.until(lambda: told.values() == ["1"])
            await asyncio.to_thread(node.receive)
            assert node.waiting == 0


async def test_state_of_the_host_is_retained_and_its_end_told(tmp_path: Path) -> None:
    """The broker publishes the last will, also where the gateway says goodbye."""
    topic = "spBv1.0/STATE/plant"
    profile = write_profile(tmp_path, [TEMPERATURE])
    with mosquitto(tmp_path) as broker:
        config = settings(tmp_path, profile, mosquitto=broker.port).model_copy(
            update={"sparkplug": SparkplugSettings(host_id="plant")}
        )
        with Device(broker.port, "node") as node:
            node.subscribe(topic)
            async with running(config):
                online = await asyncio.to_thread(node.receive)
            offline = await asyncio.to_thread(node.receive)
        with Device(broker.port, "late") as late:
            late.subscribe(topic)
            assert await asyncio.to_thread(late.receive) == offline
    states = [json.loads(payload) for _, payload in (online, offline)]
    assert [state["online"] for state in states] == [True, False]
    assert states[0]["timestamp"] == states[1]["timestamp"] >= STAMP


async def test_state_of_the_host_is_retained_by_the_embedded_broker(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path, [TEMPERATURE])).model_copy(
        update={"sparkplug": SparkplugSettings(host_id="plant")}
    )
    async with running(config) as gateway:
        with Device(gateway.mqtt_port, "node") as node:
            await asyncio.to_thread(node.subscribe, "spBv1.0/STATE/plant")
            _, payload = await asyncio.to_thread(node.receive)
    assert json.loads(payload)["online"] is True


async def test_alias_is_not_believed_after_the_connection_was_lost(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    births = [
        sent("NBIRTH", 0, 0, STAMP),
        sent("DBIRTH", 1, 20.5, STAMP + 1, "Temperature"),
    ]
    with mosquitto(tmp_path) as broker:
        port = broker.port
        async with running(settings(tmp_path, profile, mosquitto=port)) as gateway:
            await asyncio.to_thread(broker.wait_subscribed, TOPIC)
            told = await watch(gateway, VALUES)
            await publish(port, births)
            await told.until(lambda: told.values() == ["20.5"])
            await asyncio.to_thread(broker.stop)
            with mosquitto(tmp_path, port) as again:
                await asyncio.to_thread(again.wait_subscribed, TOPIC)
                with Device(port, "node") as node:
                    await asyncio.to_thread(node.subscribe, COMMANDS)
                    node.send(*sent("DDATA", 2, 99.0, STAMP + 2))
                    topic, _ = await asyncio.to_thread(node.receive)
                    assert topic == COMMANDS
            assert told.values() == ["20.5"]


@pytest.mark.parametrize("mode", ["embedded", "mosquitto"])
async def test_node_that_loses_its_connection_takes_its_streams_with_it(
    mode: str, tmp_path: Path
) -> None:
    """The NDEATH is a last will, published by the broker."""
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with behind(mode, tmp_path, profile, TOPIC) as (gateway, port):
        told = await watch(gateway, ABSENT)
        for lives in (1, 2):  # births of the second end the absence after the first
            await asyncio.to_thread(live_and_die, port)
            await told.until(lambda lives=lives: told.count_added == lives)  # type: ignore[misc]
    assert told.values(0) == ["urn:room:1"] * 2
    assert [len(each.results.removed) for each in told.notifications] == [0, 0, 1, 0]


def live_and_die(port: int) -> None:
    """Births, and a connection that is lost."""
    client = Client(CallbackAPIVersion.VERSION2, "node")
    will = encode_payload(SparkplugPayload(STAMP, None, (bd_seq(0),)))
    client.will_set("spBv1.0/plant1/NDEATH/edge7", will)
    client.connect(LOOPBACK, port)
    client.loop_start()
    births = [
        sent("NBIRTH", 0, 0, STAMP),
        sent("DBIRTH", 1, 20.5, STAMP + 1, "Temperature"),
    ]
    for topic, payload in births:
        client.publish(topic, payload, 1).wait_for_publish(WAIT_S)
    client.loop_stop()
    lost = client.socket()
    assert lost is not None
    lost.close()


def bd_seq(number: int) -> Metric:
    return Metric("bdSeq", None, STAMP, 8, False, False, "long_value", number)


class ForeignNode:
    """The client of another make, with what it says."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    async def hear(self) -> str:
        assert self._process.stdout is not None
        line = await asyncio.wait_for(asyncio.to_thread(self._process.stdout.readline), WAIT_S)
        return line.strip()


@contextmanager
def foreign_node(port: int) -> Iterator[ForeignNode]:
    if not CLIENT.exists():
        pytest.skip("no pysparkplug: run make sparkplug-client")
    script = Path(__file__).with_name("sparkplug_client.py")
    with subprocess.Popen(
        [CLIENT, script, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield ForeignNode(process)
        finally:
            process.kill()


async def test_client_of_another_make_is_understood(tmp_path: Path) -> None:
    """The births come before the gateway: they are asked for, and it gives them again."""
    profile = write_profile(tmp_path, [TEMPERATURE, LEVEL])
    with mosquitto(tmp_path) as broker, foreign_node(broker.port) as node:
        assert await node.hear() == "born"
        async with running(settings(tmp_path, profile, mosquitto=broker.port)) as gateway:
            await asyncio.to_thread(broker.wait_subscribed, TOPIC)
            told = await watch(gateway, VALUES)
            node.tell("21.5")
            heard = {await node.hear() for _ in range(2)}
            assert heard == {"sent", "asked for births"}
            node.tell("rebirth")
            assert await node.hear() == "born"
            node.tell("22.25")
            await told.until(lambda: told.values()[-1:] == ["22.25"])
            assert sorted(rows_of(gateway, BY_PROPERTY)) == [
                ["urn:property:Level", "-40"],
                ["urn:property:Temperature", "22.25"],
            ]


EXPECTED = {
    "INT8": "-5",
    "INT16": "-300",
    "INT32": "-70000",
    "INT64": "-5000000000",
    "UINT8": "250",
    "UINT16": "65535",
    "UINT32": "4294967295",
    "UINT64": "18446744073709551615",
    "FLOAT": "0.1",
    "DOUBLE": "1e-09",
    "BOOLEAN": "true",
    "STRING": "grün",
    "DATETIME": "2026-03-02T07:15:00Z",
    "TEXT": "t",
    "UUID": "0d1f6a5e-58c0-4d6f-9b3e-2a7f1c9be310",
    "BYTES": "AP8=",
    "FILE": "Zg==",
    "INT8_ARRAY": "[-1,2]",
    "INT16_ARRAY": "[-300,300]",
    "INT32_ARRAY": "[-70000,7]",
    "INT64_ARRAY": "[-5000000000,7]",
    "UINT8_ARRAY": "[0,255]",
    "UINT16_ARRAY": "[0,65535]",
    "UINT32_ARRAY": "[0,4294967295]",
    "UINT64_ARRAY": "[0,18446744073709551615]",
    "FLOAT_ARRAY": "[0.1,-2.5]",
    "DOUBLE_ARRAY": "[1e-09,0.1]",
    "BOOLEAN_ARRAY": "[true,false,true,true,false,false,false,false,true]",
    "STRING_ARRAY": '["a","b\\"c",""]',
    "DATETIME_ARRAY": '["2026-03-02T07:15:00Z"]',
}


def test_every_datatype_is_read_as_another_make_encodes_it() -> None:
    if not CLIENT.exists():
        pytest.skip("no pysparkplug: run make sparkplug-client")
    script = Path(__file__).with_name("sparkplug_values.py")
    encoded = subprocess.run([CLIENT, script], capture_output=True, text=True, check=True).stdout
    payload = decode_payload(bytes.fromhex(encoded))
    assert isinstance(payload, SparkplugPayload)
    values = {each.name: value_of(each, each.datatype) for each in payload.metrics}
    assert {name: lexical(value) for name, value in values.items()} == EXPECTED


def lexical(value: Value) -> str:
    assert not isinstance(value, Fault)
    return value.lexical if isinstance(value, Result) else array_text(value).lexical
