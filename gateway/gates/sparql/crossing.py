"""`Crossing`: what comes over the wire for a query that is asked of several gateways.

Place: beside /explain, for the part of an explanation that is about other gateways.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway.engine import SubscribeRequest
from gateway.engine.lutt import LuttEntry
from gateway.engine.spu import EACH, EVENT
from gateway.federation.asking.each import require_each
from gateway.federation.asking.plain import scope_of
from gateway.federation.entries import entries_of
from gateway.federation.service import FederationService
from gateway.gates.protocol.wire import JsonObject

_WHAT = {
    EVENT: "each event that answers it, once to this gateway",
    EACH: "the quads that match these, then what changes of them; each member is asked alone",
}
_QUADS = "the quads that match these, then what changes of them"


@dataclass(frozen=True, slots=True)
class Crossing:
    """In `mode`, the `entries` of which quads come, and how many each gateway has of them now.

    Those of `missing` have not said. In mode `event` there are none: only events come.
    """

    mode: str
    entries: Sequence[LuttEntry]
    counts: Mapping[str, Sequence[int]]
    missing: Sequence[str]

    def lines(self) -> Iterator[str]:
        """For people."""
        yield f"  from other gateways: {_WHAT.get(self.mode, _QUADS)}"
        for at, entry in enumerate(self.entries):
            told = ", ".join(f"{name} {counts[at]}" for name, counts in self.counts.items())
            yield f"    {_text(entry)}: {told or 'nobody told'}"
        if self.missing:
            yield f"    not told by {', '.join(self.missing)}"

    def members(self) -> JsonObject:
        """As JSON."""
        entries = [
            {"entry": _text(entry), "quads": {name: c[at] for name, c in self.counts.items()}}
            for at, entry in enumerate(self.entries)
        ]
        told = {"mode": self.mode, "entries": entries, "missing": list(self.missing)}
        return {"federation": told, "mode": self.mode}


async def crossing_of(asked: SubscribeRequest, federation: FederationService) -> Crossing:
    """What would come for it. Raises SparqlSyntaxError, UnsupportedQueryError."""
    if asked.mode == EVENT:
        return Crossing(EVENT, (), {}, ())
    if asked.mode == EACH:
        require_each(asked.text)
    entries = sorted(entries_of(asked.text, asked.dataset), key=_text)
    scope = scope_of(asked)
    counts = await federation.count(entries, scope)
    names = federation.names if scope is None else scope
    return Crossing(asked.mode, entries, counts, sorted(names - counts.keys()))


def _text(entry: LuttEntry) -> str:
    parts = (entry.subject, entry.predicate, entry.object, entry.graph)
    return " ".join("*" if part is None else str(part) for part in parts)
