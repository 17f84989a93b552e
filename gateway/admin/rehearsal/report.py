"""`Differences`: what a rehearsal has found, counted, and the first of each kind told one by one.

The last step of a rehearsal; the report is JSON as docs/mappings.md shows it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyoxigraph import Quad

from adapters.values.fault import Fault
from adapters.values.message import Message
from adapters.values.observation import Observation
from gateway.admin.rehearsal.pairs import Pair
from gateway.engine import Notification
from gateway.rdf.answer import Answer
from gateway.rdf.solutions import Row

MOST = 200
"""Differences of each kind that are told one by one; all are counted."""

Members = dict[str, Any]


@dataclass(slots=True)
class Differences:
    """Filled message by message; `same` observations are only counted."""

    same: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    observations: list[Members] = field(default_factory=list)
    faults: list[Members] = field(default_factory=list)
    triples: dict[str, list[str]] = field(default_factory=lambda: {"added": [], "removed": []})

    def members(self) -> Members:
        """As JSON."""
        return {
            "same": self.same,
            "counts": dict(self.counts),
            "observations": self.observations,
            "faults": self.faults,
            "triples": self.triples,
        }

    def compare_faults(
        self, message: Message, before: Sequence[Fault], after: Sequence[Fault]
    ) -> None:
        """The faults that only one side has."""
        for name, faults in (
            ("added", [each for each in after if each not in before]),
            ("removed", [each for each in before if each not in after]),
        ):
            for fault in faults:
                self.counts[f"faults_{name}"] += 1
                members = {"kind": name, "reason": fault.reason.value, "detail": fault.detail}
                _keep(self.faults, _place(message) | members | {"mapping": fault.mapping})

    def compare(self, message: Message, pair: Pair, triples: Sequence[set[Quad]]) -> None:
        """A pair that differs, with what the templates write for each."""
        before, after = pair
        kind = "removed" if after is None else "added" if before is None else "changed"
        self.counts[f"observations_{kind}"] += 1
        old, new = _told(before), _told(after)
        fields = [name for name in (old or new) if old.get(name) != new.get(name)]
        told = {"old": old or None, "new": new or None, "fields": fields}
        _keep(self.observations, _place(message) | told)
        for name, quads in (
            ("added", triples[1] - triples[0]),
            ("removed", triples[0] - triples[1]),
        ):
            self.counts[f"triples_{name}"] += len(quads)
            self.triples[name] += map(str, list(quads)[: max(0, MOST - len(self.triples[name]))])


class AnswerHistory:
    """The answer to a query on one side, and every row that it was told of."""

    def __init__(self) -> None:
        self.answer = Answer()
        self.told: Counter[Row] = Counter()

    def take(self, notification: Notification) -> None:
        """In order of its notifications."""
        self.answer.change(notification.results)
        if notification.sequence:
            self.told.update(notification.results.added)


def answers_differ(query: str, old: AnswerHistory, new: AnswerHistory) -> Members:
    """Rows of the answer at the end, and those that came and went on one side only."""
    before, after = old.answer, new.answer
    added, removed = after.rows - before.rows, before.rows - after.rows
    told = (new.told - old.told) - added, (old.told - new.told) - removed
    return {
        "query": query,
        "added": _rows(after.variables, added),
        "removed": _rows(before.variables, removed),
        "passing": {
            "added": _rows(after.variables, told[0]),
            "removed": _rows(before.variables, told[1]),
        },
        "counts": {"added": added.total(), "removed": removed.total()},
    }


def _rows(variables: Sequence[str], rows: Counter[Row]) -> list[Mapping[str, str]]:
    """Terms as in N-Triples; unbound ones are left out."""
    return [
        {name: str(term) for name, term in zip(variables, row, strict=True) if term is not None}
        for row in list(rows.elements())[:MOST]
    ]


def _told(seen: Observation | None) -> Members:
    if seen is None:
        return {}
    time, how = seen.phenomenon_time, seen.circumstances
    return {
        "sensor": seen.sensor,
        "property": seen.observed_property,
        "feature": seen.feature_of_interest,
        "result": seen.lexical,
        "datatype": seen.datatype,
        "unit": seen.unit,
        "time": None if time is None else time.isoformat(),
        "clock": how.time_source.value,
        "historical": how.historical,
        "sequence": seen.device_sequence,
    }


def _place(message: Message) -> Members:
    return {"topic": message.topic, "received_at": message.received_at.isoformat()}


def _keep(listed: list[Members], members: Members) -> None:
    if len(listed) < MOST:
        listed.append(members)
