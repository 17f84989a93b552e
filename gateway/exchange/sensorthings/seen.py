"""`Seen`: an observation as it is told: its result and its time.

Place: what the index keeps of the store, and what comes from the journal beside it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite

from pyoxigraph import Literal

from adapters.values.result import BOOLEAN, INTEGER, NUMERIC
from gateway.exchange.sensorthings.patterns import GEO
from gateway.rdf.terms import Term

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EXACT = 2**53
_WKT = GEO + "wktLiteral"


@dataclass(frozen=True, slots=True)
class Seen:
    """An observation: its IRI, lexical form and datatype of its result, when that was."""

    iri: str
    lexical: str
    datatype: str
    time: str

    @property
    def is_position(self) -> bool:
        """Whether the result says where something is."""
        return self.datatype == _WKT


def seen_of(iri: str, result: Term | None, time: str) -> Seen:
    """What the graph says of one."""
    if isinstance(result, Literal):
        return Seen(iri, result.value, result.datatype.value, time)
    return Seen(iri, str(result), "", time)


@lru_cache(maxsize=4096)
def micros_of(time: str) -> int:
    """An xsd:dateTime as µs since the epoch, without a zone as UTC; what is none is before all.

    >>> micros_of("1970-01-01T00:00:01.5Z")
    1500000
    """
    try:
        read = datetime.fromisoformat(time)
        zoned = read if read.tzinfo else read.replace(tzinfo=UTC)
        since = zoned - _EPOCH
    except (ValueError, OverflowError):
        return -(1 << 62)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def newest_first(seen: Seen) -> tuple[int, tuple[int, ...], str, str]:
    """A key by which the newest is the first; of one time, what came last.

    >>> both = [Seen("urn:o/1-9", "", "", ""), Seen("urn:o/1-10", "", "", "")]
    >>> sorted(both, key=newest_first)[0].iri
    'urn:o/1-10'
    """
    return -micros_of(seen.time), _place(seen.iri), seen.iri, seen.lexical


def _place(iri: str) -> tuple[int, ...]:
    epoch, _, sequence = iri.rpartition("/")[2].partition("-")
    if epoch.isdecimal() and sequence.isdecimal() and len(iri) < 4096:
        return -int(epoch[:18]), -int(sequence[:18])
    return (0, 0)


def json_value(seen: Seen) -> float | int | bool | str:
    """The result as JSON has it: a number, true or false, or a text.

    >>> json_value(Seen("urn:o", "21.50", "http://www.w3.org/2001/XMLSchema#decimal", ""))
    21.5
    """
    lexical, datatype = seen.lexical, seen.datatype
    if datatype == BOOLEAN:
        return lexical in {"true", "1"}
    if datatype not in NUMERIC:
        return lexical
    try:
        value = float(lexical)
        if datatype == INTEGER and abs(value) < _EXACT:
            return int(lexical)
    except ValueError:
        return lexical
    return value if isfinite(value) else lexical
