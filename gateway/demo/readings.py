"""`Readings`: the latest values as a client of the gateway is told them, and who speaks how.

Place on the way of the data: the end. Fed by the subscriptions READINGS and DIALECTS of pane.jsap;
which dialect a device speaks is what the gateway's mappings say.
"""

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gateway.client import Notification
from gateway.demo.wording import is_number, unit_symbol, word
from gateway.rdf.solutions import Solution
from gateway.rdf.terms import Term

REMEMBERED = 100
"""Values of each property of each place."""

DIALECTS = {
    "zigbee2mqtt": "Zigbee2MQTT",
    "shelly": "Shelly",
    "tasmota": "Tasmota",
    "homeassistant": "ESPHome",
    "senml": "SenML",
    "text": "line of text",
    "scalar": "bare number",
}
"""Their names for people, in the order in which they are shown; others come after them."""

_SHOWN_FIRST = ("power", "temperature")
_DISCOVERED = re.compile(r"/mapping/([a-z0-9]+)/")


@dataclass(frozen=True, slots=True)
class Reading:
    """The last value of one property, its `kind`, of a sensor; when the gateway took it in."""

    sensor: str
    name: str
    kind: str
    place: str
    value: Term
    unit: str
    at: datetime

    @property
    def text(self) -> str:
        """The value with its unit."""
        return f"{word(self.value)} {self.unit}".rstrip()

    @property
    def rank(self) -> tuple[int, bool, str]:
        """The device that stands for a dialect is the one of least rank; it stays the same."""
        last = len(_SHOWN_FIRST)
        place = _SHOWN_FIRST.index(self.kind) if self.kind in _SHOWN_FIRST else last
        return (place, not is_number(self.value), self.sensor)


class Readings:
    """Not thread-safe."""

    def __init__(self) -> None:
        self._latest: dict[tuple[str, str], Reading] = {}
        self._told: dict[tuple[str, str], deque[Reading]] = {}
        self._speakers: dict[str, tuple[re.Pattern[str], str]] = {}
        self._dialects: dict[str, str] = {}

    def told(self, notification: Notification) -> None:
        """Take up what READINGS says."""
        for gone in map(_reading, notification.removed):
            if self._latest.get((gone.sensor, gone.kind)) == gone:
                del self._latest[gone.sensor, gone.kind]
        for new in map(_reading, notification.added):
            self._latest[new.sensor, new.kind] = new
            key = (new.place, new.kind)
            self._told.setdefault(key, deque(maxlen=REMEMBERED)).append(new)

    def mapped(self, notification: Notification) -> None:
        """Take up what DIALECTS says."""
        for gone in notification.removed:
            self._speakers.pop(str(gone["mapping"]), None)
        for new in notification.added:
            pattern = re.sub(r"\\\{[^}]*\\\}", ".+", re.escape(word_of_iri(new["sensor"])))
            self._speakers[str(new["mapping"])] = (re.compile(pattern), _dialect(new))
        self._dialects.clear()

    def of_each_dialect(self) -> list[tuple[str, Reading]]:
        """One device of each dialect, always the same while it is there, with its last value."""
        shown: dict[str, Reading] = {}
        for reading in self._latest.values():
            dialect = self._dialect_of(reading.sensor)
            if dialect and (dialect not in shown or reading.rank < shown[dialect].rank):
                shown[dialect] = reading
        known = [*DIALECTS.values()]
        return sorted(
            shown.items(), key=lambda each: (known.index(each[0]) if each[0] in known else 99, each)
        )

    def before(self, place: str, kind: str, at: datetime) -> Reading | None:
        """The last value of a place that was taken in until then, of those remembered."""
        told = self._told.get((place, kind), ())
        return next((each for each in reversed(told) if each.at <= at), None)

    def _dialect_of(self, sensor: str) -> str:
        if sensor not in self._dialects:
            speakers = self._speakers.values()
            found = (dialect for pattern, dialect in speakers if pattern.fullmatch(sensor))
            self._dialects[sensor] = next(found, "")
        return self._dialects[sensor]


def word_of_iri(term: Term) -> str:
    """The IRI, or the literal that is a template of IRIs."""
    return str(getattr(term, "value", term))


def _dialect(mapping: Mapping[str, Term]) -> str:
    """By the family that found it; a mapping that somebody wrote says its format."""
    found = _DISCOVERED.search(word_of_iri(mapping["mapping"]))
    topic = word(mapping["topic"]).partition("/")[0]
    named = (found[1] if found else "", topic, word(mapping["format"]))
    return next((DIALECTS[each] for each in named if each in DIALECTS), named[-1])


def _reading(row: Solution) -> Reading:
    name = word(row.get("label"))
    kind = word(row["property"])
    return Reading(
        sensor=word_of_iri(row["sensor"]),
        name=name or f"{word(row['sensor'])} {kind}",
        kind=kind,
        place=word(row["place"]),
        value=row["value"],
        unit=unit_symbol(row.get("unit")),
        at=datetime.fromisoformat(word(row["at"])),
    )
