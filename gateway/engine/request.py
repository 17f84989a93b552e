"""UPDATE, QUERY and SUBSCRIBE as values: what a gate asks, and what the engine is given.

    gate -> request -> scheduler -> engine

An UPDATE's text becomes plans of the store, with their bindings; a restriction of rights is kept
where it hides something that a query looks at.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from pyoxigraph import NamedNode, Quad

from gateway.errors import BadRequestError
from gateway.journal.event_position import EventPosition
from gateway.rdf.dataset import Dataset
from gateway.rdf.rights import ALL_RIGHTS, Graphs, Rights
from gateway.rdf.terms import Term
from gateway.sparql.parser import parse_query
from gateway.sparql.patterns import graphs_looked_at
from gateway.store.quad_store import QueryResults
from gateway.store.readable import Readable, Source
from gateway.store.update import BoundUpdate, UpdatePlan, bind_update, compile_update
from gateway.windows.element import Element
from gateway.windows.window import Window

Update = str | UpdatePlan | Sequence[BoundUpdate]
"""A text, a prepared update, or several bound ones as one request."""

DueTime = int | datetime | timedelta
"""µs since the Unix epoch, an aware datetime, or a delay from now."""


ALL_GATEWAYS = ("all",)
"""Those that are there now and later."""

Takes = Callable[[], bool | None]
"""Whether a client takes more now; None: never any more. Asked in any thread."""


class MessageEvent(NamedTuple):
    """What a message states: its quads, the IRI that names the event of its default graph.

    `time` is when it was received, µs since the epoch.
    """

    position: EventPosition
    iri: NamedNode
    time: int
    quads: Sequence[Quad]


@dataclass(slots=True)
class UpdateRequest:
    """An UPDATE; `bindings`, `using` and `rights` are for all that it does.

    `using` is the protocol's dataset of every WHERE. With `at` it waits in the store for its time;
    `owner` is the identity that sent it, "" where nobody was asked who they are. One that
    `is_deferred` is on the disk with the next flush: for what the caller can repeat after a crash.
    With `infer` its WHERE sees what follows too, as it is before the request. `elements` enter
    streams, named by IRI, in the same step, whatever the store makes of the request. A `message` is
    one compound event for each graph of its own, instead of what the request states.

    Not frozen, which would cost each UPDATE 1 %; nobody changes one.
    """

    update: Update
    bindings: Mapping[str, Term] = field(default_factory=dict)
    using: Dataset | None = None
    rights: Rights = ALL_RIGHTS
    at: DueTime | None = None
    owner: str = ""
    is_deferred: bool = False
    infer: bool = False
    elements: Mapping[str, Sequence[Element]] = field(default_factory=dict)
    message: MessageEvent | None = None

    def bound(self) -> Sequence[BoundUpdate]:
        """The plans with their bindings.

        Raises what `compile_update` raises, and BadRequestError for a value that is no term.
        """
        for name, value in self.bindings.items():
            if not isinstance(value, Term):
                raise BadRequestError(
                    f"the binding of ?{name} is no RDF term: {value!r}",
                    "give a NamedNode, BlankNode, Literal or Triple of pyoxigraph",
                )
        update, bindings, using = self.update, self.bindings, self.using
        if isinstance(update, str):
            plan, constants = bind_update(update, using)
            return [(plan, {**constants, **bindings})]
        bound = [(update, bindings)] if isinstance(update, UpdatePlan) else update
        if bindings and bound is update:
            bound = [(plan, {**bindings, **own}) for plan, own in bound]
        if using is not None:
            bound = [(compile_update(plan.text, using), own) for plan, own in bound]
        return bound


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A QUERY; a dataset replaces that of the text.

    A graph that the rights do not let read is as if it did not exist. With `infer` it is about what
    is asserted and what follows from it, else about what is asserted alone.
    """

    text: str
    dataset: Dataset | None = None
    rights: Rights = ALL_RIGHTS
    infer: bool = field(default=False, kw_only=True)

    @classmethod
    def of(
        cls,
        text: str,
        default: Sequence[NamedNode],
        named: Sequence[NamedNode],
        rights: Rights | None = None,
    ) -> "QueryRequest":
        """A text, with the graphs of the protocol where there are some; None are all rights."""
        return QueryRequest(text, Dataset.chosen(default, named), rights or ALL_RIGHTS)

    def answer(self, source: Source) -> QueryResults:
        """Evaluate the query on what may be read of a source."""
        readable = self.rights.read
        seen = source if readable is None else Readable(source, readable)
        return seen.query(self.text, self.dataset)

    @property
    def readable(self) -> Graphs:
        """The readable graphs where they hide something that the query looks at, else None.

        Raises SparqlSyntaxError.
        """
        readable = self.rights.read
        if readable is None:
            return None
        readable |= self.beside
        looked_at = graphs_looked_at(parse_query(self.text), self.dataset)
        return None if looked_at is not None and looked_at <= readable else readable

    @property
    def beside(self) -> frozenset[NamedNode]:
        """The graphs beside those of the store, whose rights are asked for apart: windows."""
        return frozenset()


@dataclass(frozen=True, slots=True)
class SubscribeRequest(QueryRequest):
    """A SUBSCRIBE; notifications carry the `alias`, which is the subscriber's own name for it.

    Who `is_prompt` is told before an UPDATE returns, in parallel mode too. `owner` is the identity
    or address that asks. `windows` are those that the query has as named graphs beside the store's,
    by IRI; `output` is one of gateway.windows.window.OUTPUTS. `mode` is "union", the answer on the
    store, or "event", that on each compound event; of these it is told all `after` a position, by
    gateway, where whoever serves it has them. What is told again waits until its client `takes` it.
    `gateways` are those that it is asked of, by their ids, or ALL_GATEWAYS; None is this one. Of
    several the `mode` may be "each" too, the answers of all, and `after` is for every mode: the
    answer is no older. `absent`: what a gateway that is away had is kept, or left out ("drop").
    """

    alias: str | None = None
    is_prompt: bool = False
    owner: str = ""
    windows: tuple[tuple[str, Window], ...] = ()
    output: str = "changes"
    mode: str = "union"
    after: tuple[tuple[str, EventPosition], ...] = ()
    gateways: tuple[str, ...] | None = None
    absent: str = "keep"
    takes: Takes = field(default=lambda: True, compare=False)

    @property
    def beside(self) -> frozenset[NamedNode]:
        """The graphs of the windows."""
        return frozenset(NamedNode(iri) for iri, _ in self.windows)
