"""`Ledger`: the actuations as the store has them, for who asks by HTTP.

The query ACTUATIONS of the profiles is read in a thread of its own.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyoxigraph import Literal, NamedNode

from gateway.actuation.requests import time_of
from gateway.profiles import Profiles
from gateway.rdf.namespaces import GW
from gateway.rdf.terms import Term
from jsap.template import Template

ENDED = frozenset({"confirmed", "failed", "superseded"})

Rows = Sequence[Mapping[str, Term | None]]
_EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Entry:
    """One actuation; texts are empty and times None where it has none."""

    iri: str
    actuator: str
    value: Literal | None
    status: str
    requested_at: datetime | None
    sent_at: datetime | None
    ended_at: datetime | None
    reason: str
    observation: str


class Ledger:
    """`query` may be called from any thread."""

    def __init__(self, profiles: Profiles, query: Callable[[str], Any]) -> None:
        """Raises ConfigurationError where the profiles have no query ACTUATIONS."""
        profiles.query_text("ACTUATIONS")
        self._template: Template = profiles.queries["ACTUATIONS"]
        self._query = query

    def rows(self, **bound: NamedNode) -> Rows:
        """The rows that the bound variables let through."""
        results = self._query(self._template.render(bound))
        names = [variable.value for variable in results.variables]
        return [dict(zip(names, row, strict=True)) for row in results]

    async def find(self, actuation: NamedNode) -> Entry | None:
        """One of them."""
        rows = await asyncio.to_thread(self.rows, actuation=actuation)
        return _entry(rows[0]) if rows else None

    async def last(self) -> Mapping[str, Entry]:
        """The actuation of each actuator that was requested last, by the IRI of the actuator."""
        rows = await asyncio.to_thread(self.rows)
        entries = sorted(map(_entry, rows), key=lambda entry: entry.requested_at or _EVER)
        return {entry.actuator: entry for entry in entries}


def _entry(row: Mapping[str, Term | None]) -> Entry:
    value = row["value"]
    return Entry(
        _text(row["actuation"]),
        _text(row["actuator"]),
        value if isinstance(value, Literal) else None,
        _text(row["status"]).removeprefix(GW).lower(),
        time_of(row["requestedAt"]),
        time_of(row["sentAt"]),
        time_of(row["endedAt"]),
        _text(row["reason"]),
        _text(row["observation"]),
    )


def _text(term: Term | None) -> str:
    return term.value if isinstance(term, NamedNode | Literal) else ""
