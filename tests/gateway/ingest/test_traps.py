"""What devices and networks do and a reading must survive, through a gateway that runs.

The traps of single payloads are cases (tests/data/families); here are those that only the whole
way shows: copies, values that come late, values of bad quality. docs/traps.md lists all of them.
"""

import json
from pathlib import Path

from adapters.sparkplug.payload import Metric, SparkplugPayload, encode_payload
from tests.kit.gateways import (
    VALUES,
    Publication,
    journal_records,
    mapping,
    publish,
    rows_of,
    running,
    settings,
    watch,
    write_profile,
)

BASE_MS = 1_772_436_000_000
ADVERTISEMENT = "0201061BFF9904058001000000008001800180010000000000CBB8334C884F"


def ruuvi(gateway: str, sent_at: int, rssi: int) -> Publication:
    """One advertisement of a RuuviTag as a Ruuvi Gateway passes it on."""
    told = {"gw_mac": gateway, "rssi": rssi, "aoa": [], "gwts": str(sent_at), "ts": str(sent_at)}
    return f"ruuvi/{gateway}/CB:B8:33:4C:88:4F", json.dumps(
        told | {"data": ADVERTISEMENT, "coords": ""}
    ).encode()


def uplink(received_at: str, rssi: int) -> Publication:
    """An uplink as The Things Stack sends it, its counter and its value the same."""
    message = {"f_cnt": 918, "f_port": 10, "frm_payload": "D2f/tA==", "received_at": received_at}
    decoded = {"decoded_payload": {"temperature": -7.6}, "rx_metadata": [{"rssi": rssi}]}
    event = {"end_device_ids": {"device_id": "cold"}, "uplink_message": message | decoded}
    return "v3/pharma/devices/cold/up", json.dumps(event).encode()


def metric(value: float, at_s: int, *, historical: bool = False, quality: int = 192) -> Metric:
    told = (("Quality", quality),)
    time_ms = BASE_MS + 1000 * at_s
    return Metric("T", None, time_ms, 10, historical, False, "double_value", value, told)


def sparkplug(kind: str, seq: int, *metrics: Metric) -> Publication:
    payload = SparkplugPayload(BASE_MS + 1000 * seq, seq, metrics)
    return f"spBv1.0/plant/{kind}/edge", encode_payload(payload)


async def test_copies_that_several_gateways_heard_are_one_observation(tmp_path: Path) -> None:
    mappings = [
        mapping("r", "ruuvi/+/+", format="ruuvi", selector="temperature", sensor="urn:{2}"),
        mapping("l", "v3/+/devices/+/up", format="ttn", selector="temperature", sensor="urn:{2}"),
    ]
    for each in mappings:
        each["feature"] = "urn:hall"
    async with running(settings(tmp_path, write_profile(tmp_path, mappings))) as gateway:
        heard = [ruuvi("AA:AA", 1_772_436_000, -60), ruuvi("BB:BB", 1_772_436_001, -80)]
        heard += [uplink("2026-03-02T07:22:39.902Z", -90), uplink("2026-03-02T07:22:40.1Z", -70)]
        await publish(gateway.mqtt_port, heard)
        assert len(rows_of(gateway, VALUES)) == 2
        counted = gateway.statistics()
        assert (counted["observations"], counted["quarantined"]) == (2, 0)


async def test_historical_values_are_kept_and_leave_the_present_alone(tmp_path: Path) -> None:
    mappings = [mapping("T", "spBv1.0/plant/NDATA/edge", format="sparkplug", selector="T")]
    async with running(settings(tmp_path, write_profile(tmp_path, mappings))) as gateway:
        told = await watch(gateway, VALUES)
        sent = [
            sparkplug("NBIRTH", 0, metric(20.5, 0)),
            sparkplug("NDATA", 1, metric(7.5, -3600, historical=True)),
            sparkplug("NDATA", 2, metric(99.5, 2, quality=0)),
            sparkplug("NDATA", 3, metric(98.5, 3, quality=500)),
            sparkplug("NDATA", 4, metric(21.5, 4)),
        ]
        await publish(gateway.mqtt_port, sent)
        await told.until(lambda: told.values() == ["20.5", "21.5"])
        assert gateway.statistics()["quarantined"] == 2
    kept = [each.observation for each in journal_records(tmp_path)]
    assert [(s.lexical, s.circumstances.historical) for s in kept] == [
        ("20.5", False),
        ("7.5", True),
        ("21.5", False),
    ]


async def test_counter_that_begins_anew_is_believed(tmp_path: Path) -> None:
    mappings = [mapping("e", "tele/plug/SENSOR", format="tasmota", selector="ENERGY.Total")]
    sent = [
        ("tele/plug/SENSOR", f'{{"Time":"2026-03-02T0{hour}:00:00Z","ENERGY":{{"Total":{total}}}}}')
        for hour, total in enumerate(("112.481", "112.5", "0", "0.125"))
    ]
    async with running(settings(tmp_path, write_profile(tmp_path, mappings))) as gateway:
        told = await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, [(topic, text.encode()) for topic, text in sent])
        await told.until(lambda: told.values() == ["112.481", "112.5", "0", "0.125"])
        assert gateway.statistics()["quarantined"] == 0
