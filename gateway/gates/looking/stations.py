"""The stations of a trail, made of what is known: no I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.actuation.ledger import Entry
from gateway.admin.looking.near import Near
from gateway.gates.looking.asked_of import Looking
from gateway.gates.looking.subscriptions import kind_of
from gateway.gates.looking.trail_answers import (
    Item,
    Kind,
    Station,
    item,
    station,
    troubled,
)
from gateway.gates.looking.trail_store import RowFound, Silence
from gateway.gates.looking.why_answers import OriginTold, StepTold
from gateway.ingest.sosa import told_unit

_LONGEST = 500
_FEW = 8
_LISTED = 10


@dataclass(frozen=True, slots=True)
class Observed:
    """An observation as `WhyGate` tells it, and what the store says around it."""

    origin: OriginTold
    is_stored: bool
    silence: Silence | None


def observed_stations(observed: Observed, *, sees_mappings: bool) -> list[Station]:
    """Message, mapping, observation, triples."""
    origin = observed.origin
    return [
        _message(origin),
        _mapping(origin, sees_mappings=sees_mappings),
        _observation(observed),
        _triples(observed),
    ]


def derived_station(steps: Sequence[StepTold]) -> Station:
    """What nobody wrote: by which axioms it follows from what."""
    items: list[Item] = []
    for step in steps[:_LISTED]:
        if step.axiom:
            items += [item("follows", step.text), item("by", step.axiom)]
        else:
            items.append(item("from", step.text))
    return station("derived", "ok", "derived by axioms", *items)


def _message(origin: OriginTold) -> Station:
    kept = origin.message
    if kept is None:
        return station("message", "ok", "the message is not kept any more, or not to be told")
    payload = kept.payload or f"base64 {kept.payload_base64}"
    told = station(
        "message",
        "ok",
        "a message came",
        item("topic", kept.topic, "topic"),
        item("payload", payload[:_LONGEST]),
        item("retained", "yes") if kept.retained else None,
        time=kept.received_at,
    )
    if kept.kept_in == "quarantine":
        problem = "a part of it could not be read: it is in quarantine"
        return troubled(told, problem, "correct the mapping or the device, then replay it")
    return told


def _mapping(origin: OriginTold, *, sees_mappings: bool) -> Station:
    items: list[Item] = []
    for each in origin.mappings[:_LISTED]:
        items.append(item("mapping", each.id, "mapping"))
        items.append(item("reads", f"{each.topic} as {each.format} {each.selector}".rstrip()))
        items.append(item("from", each.source))
    if items:
        title = "read by" if origin.certain else "could have been read by"
        return station("mapping", "ok", title, *items)
    if not sees_mappings:
        return station("mapping", "ok", "not to be told: ask for the capability mappings")
    told = station("mapping", "broken", "no mapping of now gives it")
    problem = "the mapping that gave it is gone or was changed"
    return troubled(told, problem, "undo the change, or map its topic again")


def _observation(observed: Observed) -> Station:
    line = observed.origin.journal
    if line is None:
        return station("observation", "ok", "its line is not in the journal any more")
    unit = told_unit(line.unit)
    told = station(
        "observation",
        "ok",
        "taken in",
        item("sensor", line.sensor, "sensor"),
        item("property", line.property, "property"),
        item("of", line.feature, "place"),
        item("value", line.result if unit is None else f"{line.result} {unit}"),
        item("position", line.position),
        time=line.time or line.ingested_at,
    )
    return _silenced(told, observed.silence)


def _silenced(told: Station, silence: Silence | None) -> Station:
    if silence is None:
        return told
    how = "said that it is offline" if silence.is_offline else "has been silent"
    advice = "look after its battery, its power and its reception"
    return troubled(told, f"since then the sensor {how}: {silence.since}", advice)


def _triples(observed: Observed) -> Station:
    origin = observed.origin
    items = [item("observation", origin.iri, "observation")]
    if origin.template is not None:
        items.append(item("template", f"{origin.template.id} {origin.template.file}".rstrip()))
    title = "written to the store" if observed.is_stored else "newer ones took its place"
    return station("triples", "ok", title, *items)


def expected_stations(sensor: str, observed: str, nears: Iterable[Near]) -> list[Station]:
    """The stations of a stream that nothing was observed of, with what keeps it away."""
    nears = list(nears)
    none = station(
        "observation",
        "waiting",
        "not observed yet",
        item("sensor", sensor, "sensor"),
        item("property", observed, "property"),
    )
    return [
        _kept_away("message", "no message gave it", nears, {"quarantine"}),
        _kept_away("mapping", "what could give it", nears, {"mapping", "property"}),
        none,
    ]


def _kept_away(kind: Kind, title: str, nears: Sequence[Near], links: set[str]) -> Station:
    """The first trouble of these kinds; what has a time is broken, the rest is waited for."""
    mine = [each for each in nears if each.link is not None and each.link.kind in links]
    told = station(kind, "waiting", title, *(item(each.what, each.reason) for each in mine[:_FEW]))
    if not mine:
        return told
    worst = next((each for each in mine if each.since), mine[0])
    status = "broken" if worst.since or "no mapping" in worst.reason else "waiting"
    return troubled(told, f"{worst.what}: {worst.reason}", worst.advice, status)  # type: ignore[arg-type]


def row_station(name: str, found: RowFound) -> Station:
    """The question that a row is of."""
    told = station("question", "ok", "a row of", item("query", name, "query"))
    if found.is_there:
        return told
    problem = "it has this row no more"
    return troubled(told, problem, 'ask POST /why/quiet {"name": …}', "broken")


def nowhere_station(reason: str, *, is_stored: bool) -> Station:
    """What no observation wrote."""
    title = "in the store" if is_stored else "not in the store"
    told = station("triples", "ok" if is_stored else "waiting", title)
    return troubled(told, reason, "an UPDATE wrote it, or nobody has yet", told.status)


def question_station(looking: Looking) -> Station:
    """Standing queries that look at it."""
    if not looking.standing:
        return station("question", "waiting", "no standing query asks for it")
    items = []
    for each in looking.standing[:_LISTED]:
        kind, owner = kind_of(each.spuid, looking.clients, looking.rules)
        name = f"{kind} {owner}".rstrip()
        items.append(item(name, each.text.strip()[:_LONGEST], "subscription", each.spuid))
    title = f"asked for by {len(looking.standing)}"
    return station("question", "ok", title, *items)


def rule_station(rules: Sequence[str], errors: Mapping[str, str]) -> Station:
    """Rules whose query looks at it; `errors` by IRI."""
    if not rules:
        return station("rule", "waiting", "no rule asks for it")
    told = station(
        "rule", "ok", "rules that ask for it", *(item("rule", each, "rule") for each in rules)
    )
    wrong = next((each for each in rules if each in errors), None)
    if wrong is None:
        return told
    return troubled(told, f"{wrong}: {errors[wrong]}", "correct the rule")


def confirmed_station(actuations: Sequence[str]) -> Station:
    """Commands that it confirmed."""
    if not actuations:
        return station("command", "waiting", "it confirmed no command")
    items = (item("command", each, "command") for each in actuations)
    return station("command", "ok", "it confirmed", *items)


def actuation_station(entry: Entry) -> Station:
    """A command and what became of it."""
    times = {
        "requested": entry.requested_at,
        "sent": entry.sent_at,
        "ended": entry.ended_at,
    }
    told = station(
        "command",
        "ok" if entry.status in {"confirmed", "superseded"} else "waiting",
        entry.status,
        item("command", entry.iri, "command"),
        item("actuator", entry.actuator, "actuator"),
        None if entry.value is None else item("value", entry.value.value),
        *(item(name, _stamp(at)) for name, at in times.items() if at is not None),
        None if not entry.observation else item("by", entry.observation, "observation"),
        time=None if entry.requested_at is None else _stamp(entry.requested_at),
    )
    if entry.status == "failed":
        advice = "look whether the device is there and takes this value: docs/actuators.md"
        return troubled(told, entry.reason or "it failed", advice)
    return told


def _stamp(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds")
