"""What the tests of all families share: cases as files, and what became of a message as values."""

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.adapter import Decoded
from adapters.registry import Registry
from adapters.values.memory import Memory
from adapters.values.message import Message
from adapters.values.notice import DeviceRequest, Heartbeat, Liveness, Notice, UnitChange
from adapters.values.observation import XSD, Observation, TimeSource
from adapters.values.proposal import Command, Proposal
from adapters.values.units import UNIT
from bench.families.cases import Case, cases
from tests.paths import DATA

FOLDER = DATA / "families"
CASES = list(cases(FOLDER))
FAMILIES = sorted({case.family for case in CASES})


def registry(case: Case) -> Registry:
    compiled, errors = Registry.compile(case.mappings, Memory())
    assert not errors, errors
    return compiled


def seen(observation: Observation) -> dict[str, Any]:
    """An observation in the words of a case file."""
    how = observation.circumstances
    time = observation.phenomenon_time
    members = {
        "sensor": observation.sensor,
        "property": observation.observed_property,
        "feature": observation.feature_of_interest,
        "value": observation.lexical,
        "datatype": observation.datatype.removeprefix(XSD),
        "unit": observation.unit and observation.unit.removeprefix(UNIT),
        "time": time and time.isoformat().replace("+00:00", "Z"),
        "sequence": observation.device_sequence,
        "timeSource": None if how.time_source is TimeSource.DEVICE else how.time_source.value,
        "historical": how.historical or None,
        "clockSuspect": how.clock_suspect or None,
    }
    return {name: value for name, value in members.items() if value is not None}


def noticed(notice: Notice) -> dict[str, Any]:
    """A notice in the words of a case file."""
    match notice:
        case Heartbeat(stream):
            return {"heartbeat": list(stream)}
        case Liveness(stream, online, None):
            return {"liveness": list(stream), "online": online}
        case Liveness(stream, online, expires):
            return {"liveness": list(stream), "online": online, "expiresAfter": f"{expires:g}"}
        case UnitChange(stream, before, after):
            units = {"before": before.removeprefix(UNIT), "after": after.removeprefix(UNIT)}
            return {"unitChange": list(stream), **units}
        case DeviceRequest(topic, payload, _, qos):
            try:
                return {"request": topic, "payload": payload.decode(), "qos": f"{qos}"}
            except UnicodeDecodeError:
                return {"request": topic, "hex": payload.hex(), "qos": f"{qos}"}


def proposed(proposal: Proposal, members: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a proposal that `members` names."""
    mapping, command = proposal.mapping, proposal.command
    every = {
        "id": mapping.iri,
        "topic": mapping.topic_filter,
        "format": mapping.format,
        "sensor": mapping.sensor,
        "property": mapping.observed_property,
        "feature": mapping.feature_of_interest,
        "selector": mapping.selector,
        "unit": mapping.unit,
        "deviceUnit": mapping.device_unit,
        "time": mapping.time_selector,
        "sequence": mapping.sequence_selector,
        "trueValue": mapping.true_value,
        "falseValue": mapping.false_value,
        "expiresAfter": mapping.expires_after_s and f"{mapping.expires_after_s:g}",
        "availability": mapping.availability_topic,
        "availabilities": mapping.availabilities and json.loads(mapping.availabilities),
        "condition": mapping.condition,
        "scale": mapping.scale,
        "label": proposal.label,
        "device": proposal.device,
        "quantity": proposal.meaning.quantity,
        "known": proposal.meaning.is_known,
        "kind": proposal.meaning.kind.value,
        "question": proposal.questions,
        "command": command
        and {"topic": command.topic, "payload": command.payload}
        | ({"values": list(command.values)} if command.values else {})
        | {name: told for name, told in _limits(command) if name in (members.get("command") or ())},
    }
    return {name: every[name] for name in members}


def _limits(command: Command) -> Iterator[tuple[str, str]]:
    """What bounds a command, and its words for truth values; compared where a case names it."""
    yield from (("minimum", command.minimum), ("maximum", command.maximum), ("step", command.step))
    yield from (("trueValue", command.true_value), ("falseValue", command.false_value))


def expected(members: Mapping[str, Any], name: str) -> list[Any]:
    return list(members.get(name, ()))


def damaged(dice: random.Random, payload: bytes) -> bytes:
    """The payload with some bytes cut, changed, repeated, or replaced by what no device sends."""
    broken = bytearray(payload)
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(broken) + 1)
        match dice.randrange(5):
            case 0:
                del broken[at:]
            case 1 if broken:
                broken[at % len(broken)] ^= 1 << dice.randrange(8)
            case 2:
                broken[at:at] = broken[at : at + dice.randrange(1, 30)]
            case 3:
                del broken[at : at + dice.randrange(1, 6)]
            case _:
                strange = [b"null", b"NaN", b"1e999", b"{}", b"[", b'"', b"\xff", b"9" * 70, b"\0"]
                broken[at:at] = dice.choice(strange)
    return bytes(broken)


def family_messages(family: str) -> Iterator[tuple[Case, Message]]:
    for case in CASES:
        if case.family == family:
            for sent in case.sent:
                yield case, sent.message


def assert_sound(decoded: Decoded) -> None:
    for fault in decoded.faults:
        assert fault.detail.isascii(), fault
        assert len(fault.detail) < 500
    for observation in decoded.observations:
        time = observation.phenomenon_time
        assert time is None or time.utcoffset() is not None
