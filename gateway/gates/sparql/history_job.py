"""A query over time as it goes to its process, and what comes back.

Place: between `history` or the command line and `history_process`; loads nothing that
reads archives.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway.gates.http.rendering import Answer
from gateway.gates.protocol.media_types import Acceptable
from gateway.journal.past.sources import GatherLimits, Sources
from gateway.sparql.bounds.answer import AnswerBounds
from jsap.shapes.shape import Shapes

MODULE = "gateway.gates.sparql.history_process"
WORK = "the query over time"


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """A query over time, and by which shapes rows are seen; `namespaces` need no PREFIX."""

    text: str
    shapes: Shapes
    namespaces: Mapping[str, str]

    def with_prefixes(self) -> str:
        """The text with all prefixes, in one line with the first; its own come behind and win."""
        known = "".join(f"PREFIX {name}: <{iri}> " for name, iri in self.namespaces.items())
        return known + self.text


@dataclass(frozen=True, slots=True)
class FactsAsked:
    """Which facts of a store a query over time needs; the answer is CONSTRUCTs, pickled."""

    query: HistoryQuery


@dataclass(frozen=True, slots=True)
class HistoryJob:
    """A query over time with all that it is answered from.

    Facts are those of the copied store in `folder`, or `triples` as N-Triples; who may not see the
    default graph (`is_hidden`) gets none, and no observations. `missing` are parts that are away
    already, with why. `time` is that of its clock, µs.
    """

    query: HistoryQuery
    sources: Sources
    limits: GatherLimits
    bounds: AnswerBounds
    acceptable: Acceptable
    time: int
    folder: Path | None = None
    triples: bytes = b""
    is_hidden: bool = False
    missing: Mapping[str, str] = field(default_factory=dict)
    takes_gzip: bool = False


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """An answer; `gaps` are lines, `missing` the parts of the past that are away, with why."""

    answer: Answer
    gaps: tuple[str, ...]
    missing: Mapping[str, str]
