"""What a client could have seen of the demo, for the tests of its screen."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from pyoxigraph import Literal, NamedNode

from gateway.client import Notification
from gateway.demo.readings import word_of_iri
from gateway.demo.seen import Seen
from gateway.demo.settings import standing_queries
from gateway.rdf.solutions import Solution
from gateway.rdf.terms import Term

AT = datetime(2026, 3, 2, 7, 14, 55, 102_000, UTC)
HOUSE = "https://sosa-gateway.example/demo/"
FOUND = "https://sosa-gateway.example/id/demo/"
HOSTILE = "\x1b[31m\x1b]0;pwned\x07[bold red]\r\n\x9b2J\u202e\ufe0f" + "漢字" * 60 + "e\u0301" * 300


def told(
    sequence: int, added: Iterable[Solution] = (), removed: Iterable[Solution] = (), time: int = 0
) -> Notification:
    return Notification("urn:spuid", sequence, tuple(added), tuple(removed), time)


def microseconds(at: datetime) -> int:
    return round(at.timestamp() * 1e6)


def reading(
    sensor: str, kind: str, value: bool | float, at: datetime = AT, **more: Term
) -> Solution:
    return {
        "sensor": NamedNode(sensor),
        "property": NamedNode(f"https://sosa-gateway.example/property/{kind}"),
        "place": NamedNode(f"{HOUSE}room/office"),
        "value": Literal(value),
        "at": Literal(at.isoformat().replace("+00:00", "Z")),
        **more,
    }


def mapping(name: str, sensor: str, written_as: str, topic: str) -> Solution:
    return {
        "mapping": NamedNode(name),
        "sensor": Literal(sensor),
        "format": Literal(written_as),
        "topic": Literal(topic),
    }


def command(
    number: int, value: bool, status: str, requested: datetime = AT, took_s: float | None = None
) -> Solution:
    row: dict[str, Term] = {
        "command": NamedNode(f"{FOUND}actuation/{number}"),
        "actuator": Literal("fan7"),
        "place": NamedNode(f"{HOUSE}room/office"),
        "value": Literal(value),
        "status": NamedNode(f"https://sosa-gateway.example/ns#{status}"),
        "requested": Literal(requested.isoformat()),
    }
    if took_s is not None:
        row["ended"] = Literal((requested + timedelta(seconds=took_s)).isoformat())
    return row


def entry(reason: str, topic: str, detail: str = "why") -> Mapping[str, object]:
    faults = [{"reason": reason, "detail": detail, "mapping": None}]
    return {"faults": faults, "topic": topic, "received_at": AT.isoformat()}


def busy(text: str = "bath window contact") -> Seen:
    """As much of everything as a screen of 24 lines has no room for; `text` is a device's."""
    seen = Seen("mqtt://127.0.0.1:1883  http://127.0.0.1:8000", lambda: 21.4)
    for each in standing_queries(None):
        seen.activity.subscribe(each.name, is_question=each.is_question)
        rows = [{"device": Literal(f"{number} {text}")} for number in range(1000, 1060)]
        seen.told(each.name, told(0, rows))
        seen.told(each.name, told(1, [{"device": Literal(text)}], rows[:3]))
    seen.counted({"readings_in": 742, "quarantined": 12, "commands_out": 3})
    seen.quarantined([entry(text, text, text) for _ in range(10)])
    written = {"senml": "senml", "text": "meter", "scalar": "home", "json": "zigbee2mqtt"}
    said = [mapping(f"urn:{key}", f"urn:s:{key}", key, topic) for key, topic in written.items()]
    said += [
        mapping(f"{FOUND}mapping/{family}/x", f"urn:s:{family}", "scalar", "x/y")
        for family in ("shelly", "tasmota", "homeassistant")
    ]
    seen.readings.mapped(told(0, said))
    for row in said:
        sensor = word_of_iri(row["sensor"])
        label = Literal(text)
        seen.readings.told(told(1, [reading(sensor, "power", 9.5, label=label)]))
    seen.effects.told(told(0, [command(n, n % 2 == 0, "Confirmed", AT, 0.4) for n in range(20)]))
    seen.accepted = "22 proposals accepted"
    return seen
