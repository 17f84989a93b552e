"""SPU: SPARQL processing unit, one per distinct subscribed query and dataset.

In the paper an SPU is the process that works for one subscribed query. Here an `Spu` is what those
who subscribe to the same share: a value that names the query and stands for its answer. The work of
one or many is done by a `Unit`: it owns the LUTT entries of its members and answers one question
for them: the store has changed by what is in my ARTQ; which rows did each answer gain and lose?
Kinds of units, the cheapest first: `join`, `incremental`, `requery`. A unit needs of its store what
`Source` says and nothing of the engine, so a worker process can build the same one on its own CTS.
Source: Roffia et al., "A Semantic Publish-Subscribe Architecture for the Internet of Things", 2016,
section III.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pyoxigraph import QueryBoolean, QuerySolutions

from gateway.engine.limits import bounded
from gateway.engine.lutt import Artq, LuttEntry
from gateway.rdf.dataset import Dataset
from gateway.rdf.solutions import ResultsDelta, SolutionBag
from gateway.rdf.terms import GraphName
from gateway.sparql.order.tie_break import with_tie_break
from gateway.store.readable import Source
from gateway.windows.window import Window

EVENT = "event"
"""The mode of a query that is asked of each compound event alone."""

UNION = "union"

EACH = "each"
"""The mode of a query that is asked of the store."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is subscribed: a query text and its dataset. Equal subjects share one SPU.

    A dataset replaces the text's own FROM clauses, as the SPARQL 1.1 Protocol says (2.1.4). A query
    that reads the clock has a number in `clocked`, its own: its first answer is that of another
    moment, so it shares no SPU. `readable` are the graphs that may be read, where that restricts
    what the query looks at; None restricts nothing. What `is_prompt` is told before the UPDATE
    returns, in parallel mode too. With `infer` it is about the entailed view. Each of `windows`,
    by IRI, is a named graph beside those of the store; `output` says what its subscribers are told.
    In the `mode` "event" it is asked of each compound event alone (gateway/engine/compound), and
    `readable` are the graphs whose events may be read.
    """

    text: str
    dataset: Dataset | None = None
    clocked: int = 0
    readable: frozenset[GraphName] | None = None
    is_prompt: bool = False
    infer: bool = False
    windows: tuple[tuple[str, Window], ...] = ()
    output: str = "changes"
    mode: str = UNION


@dataclass(slots=True, eq=False)
class Spu:
    """One SPU: a subject, and the form and columns of its answer. Each is equal to itself only."""

    subject: Subject
    form: str
    variables: tuple[str, ...]


Change = tuple[Spu, ResultsDelta]
"""What an UPDATE changed in the answer of one SPU; it may be empty."""


class Unit(Protocol):
    """What processes the ARTQ of one or many SPUs."""

    @property
    def tier(self) -> str:
        """The kind of unit, as metrics and `explain` name it."""

    @property
    def lutt(self) -> tuple[LuttEntry, ...]:
        """The patterns of all quads that can change an answer of a member."""

    @property
    def context(self) -> tuple[LuttEntry, ...]:
        """The part of `lutt` whose quads are looked up when something changed: what a CTS holds."""

    @property
    def members(self) -> Collection[Spu]:
        """The SPUs that it serves."""

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer of a member now, as additions: sequence 0 of every subscriber."""

    def reach(self, artq: Artq) -> int:
        """How many members' own LUTTs let something of the ARTQ through; counts their hits."""

    def hits(self, spu: Spu) -> int:
        """How many updates reached a member."""

    def process(self, artq: Artq) -> Iterable[Change]:
        """What changed for whom; the store already has the change. Members may be left out."""

    def told(self, spu: Spu) -> SolutionBag | None:
        """The answer that a member was last told; None where the unit does not keep it."""

    def renew(self) -> None:
        """Forget what it keeps, half changed as it may be: `initial` finds it anew."""


class SingleMember:
    """A member, its LUTT, and how often something came through."""

    def __init__(self, spu: Spu, lutt: tuple[LuttEntry, ...]) -> None:
        self.members = (spu,)
        self.lutt = lutt
        self._hits = 0

    @property
    def context(self) -> tuple[LuttEntry, ...]:
        """None: nothing is looked up."""
        return ()

    def reach(self, artq: Artq) -> int:
        """The one member."""
        del artq
        self._hits += 1
        return 1

    def hits(self, spu: Spu) -> int:
        """How many updates reached the member."""
        del spu
        return self._hits


@dataclass(frozen=True, slots=True)
class Placed:
    """An SPU and the unit that serves it; `gone` are units whose members that one took over.

    `refused` says why cheaper tiers are not exact for it.
    """

    spu: Spu
    unit: Unit
    is_made: bool = False
    gone: tuple[Unit, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


def evaluate(store: Source, subject: Subject) -> SolutionBag:
    """The answer as a bag: ASK true is one empty row, CONSTRUCT a set of triples.

    Keeps to the limits in force (gateway/engine/limits.py). What a LIMIT takes is decided by a
    total order (gateway/sparql/order/tie_break.py).
    """
    results = store.query(with_tie_break(subject.text), subject.dataset)
    if isinstance(results, QuerySolutions):
        return Counter(tuple(row) for row in bounded(results))
    if isinstance(results, QueryBoolean):
        return Counter([()] if results else [])
    return Counter({(t.subject, t.predicate, t.object): 1 for t in bounded(results)})
