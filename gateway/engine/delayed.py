"""Delayed UPDATEs: requests that wait in the store for their time.

Each is an entry in the graph `…/graph/delayed`: its due time and the request, as JSON. What that
graph says is the truth, so the requests survive a restart; whoever may read it can ask for them,
and whoever may write it can take them back or put in others, DROP ALL included. An entry goes in
the transaction that executes it, so it is executed exactly once. Source: Roffia et al., "A Semantic
Publish-Subscribe Architecture for the Internet of Things", 2016, section II.C.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import Never, Self

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple, parse

from gateway.engine.lutt import Artq, LuttEntry
from gateway.engine.request import DueTime, UpdateRequest
from gateway.engine.spu import Change, Spu
from gateway.errors import BadRequestError, GatewayError, NotFoundError
from gateway.rdf.dataset import Dataset
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import DELAYED_GRAPH, GW, RDF
from gateway.rdf.rights import ALL_RIGHTS, Graphs, Rights
from gateway.rdf.terms import DEFAULT_GRAPH, Term
from gateway.sparql.algebra import HIDDEN_PREFIX
from gateway.store.quad_store import QuadStore
from gateway.store.update import BoundUpdate, compile_update

log = logging.getLogger(__name__)

_TYPE = NamedNode(RDF + "type")
_CLASS = NamedNode(GW + "DelayedUpdate")
_DUE = NamedNode(GW + "due")
_REQUEST = NamedNode(GW + "request")
_IDS = DELAYED_GRAPH.value + "/"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LastingRequest:
    """An UPDATE that outlives the process: texts, each with its forced bindings.

    `owner` is the identity that sent it, "" where nobody was asked who they are. With `infer` its
    WHERE sees what follows, as it is when it is due.
    """

    updates: tuple[tuple[str, Mapping[str, Term]], ...]
    using: Dataset | None = None
    rights: Rights = ALL_RIGHTS
    owner: str = ""
    infer: bool = False

    @classmethod
    def of(cls, request: UpdateRequest, bound: Sequence[BoundUpdate]) -> Self:
        """What is kept of a request and its plans."""
        update = request.update
        texts = [update] if isinstance(update, str) else [plan.text for plan, _ in bound]
        bindings = [
            {name: term for name, term in each.items() if not name.startswith(HIDDEN_PREFIX)}
            for _, each in bound
        ]
        updates = tuple(zip(texts, bindings, strict=True))
        return cls(updates, request.using, request.rights, request.owner, request.infer)

    def bound(self) -> Sequence[BoundUpdate]:
        """The plans with their bindings. Raises what `compile_update` raises."""
        return [(compile_update(text, self.using), bindings) for text, bindings in self.updates]


@dataclass(frozen=True, slots=True)
class DelayedUpdate:
    """A request that waits; `due` is µs since the Unix epoch. `id` is an IRI."""

    id: str
    due: int
    request: LastingRequest


def due_time(at: DueTime, now: int) -> int:
    """The time in µs since the epoch. Raises BadRequestError.

    >>> due_time(timedelta(seconds=2), now=1_000_000)
    3000000
    """
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise BadRequestError("a due time without time zone", "use an aware datetime")
        due = (at - _EPOCH) // timedelta(microseconds=1)
    else:
        due = now + at // timedelta(microseconds=1) if isinstance(at, timedelta) else at
    if not 0 <= due < 2**63:
        raise BadRequestError(f"a due time of {due} µs", "use a time after 1970")
    return due


class DelayedUpdates:
    """The entries in the order in which they fall due; of equal times, as they came.

    A unit without members: its LUTT tells it of every change of the entries.
    """

    tier = "delayed"
    members: tuple[Spu, ...] = ()
    context: tuple[LuttEntry, ...] = ()
    lutt = (
        LuttEntry(None, _DUE, None, DELAYED_GRAPH),
        LuttEntry(None, _REQUEST, None, DELAYED_GRAPH),
    )

    def __init__(self, store: QuadStore) -> None:
        self._store = store
        self._due: dict[str, int] = {}
        self._heap: list[tuple[int, str]] = []
        self.renew()

    def __len__(self) -> int:
        return len(self._due)

    def __iter__(self) -> Iterator[DelayedUpdate]:
        """All that wait, in order; entries that somebody wrote by hand and wrongly are left out."""
        for due, id_ in sorted((due, id_) for id_, due in self._due.items()):
            try:
                yield DelayedUpdate(id_, due, self.request(id_))
            except GatewayError as error:
                log.warning("delayed_unreadable", extra={"id": id_, "reason": str(error)})

    @property
    def first(self) -> tuple[int, str] | None:
        """Due time and id of the next one."""
        while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
            heappop(self._heap)
        return self._heap[0] if self._heap else None

    def request(self, id_: str) -> LastingRequest:
        """What an entry asks for. Raises NotFoundError, BadRequestError for a wrong one."""
        self.require(id_)
        quad = next(iter(self._store.match(NamedNode(id_), _REQUEST, None, DELAYED_GRAPH)))
        text = quad.object.value if isinstance(quad.object, Literal) else ""
        try:
            return _decoded(text)
        except (ValueError, KeyError, TypeError, AttributeError, SyntaxError) as error:
            raise BadRequestError(
                f"{id_} is no delayed update: {error!r}", "take it off the list by cancel"
            ) from error

    def require(self, id_: str) -> None:
        """Raise NotFoundError unless such an update waits."""
        if id_ not in self._due:
            raise NotFoundError(f"there is no delayed update {id_}", "it may have run already")

    def entry(self, request: LastingRequest, due: int, now: int) -> tuple[str, Delta]:
        """The id of a new entry and the change that puts it in."""
        number = 0
        while (id_ := f"{_IDS}{now:020}-{number:06}") in self._due:
            number += 1
        node = NamedNode(id_)
        added = (
            Quad(node, _TYPE, _CLASS, DELAYED_GRAPH),
            Quad(node, _DUE, Literal(due), DELAYED_GRAPH),
            Quad(node, _REQUEST, Literal(_encoded(request)), DELAYED_GRAPH),
        )
        created = () if self._store.contains_graph(DELAYED_GRAPH) else (DELAYED_GRAPH,)
        return id_, Delta(added, graphs_created=created)

    def without(self, id_: str, change: Delta = Delta()) -> Delta:  # noqa: B008  a frozen value
        """The change, and besides that of taking the entry out; the graph goes with its last."""
        gone = dict.fromkeys(change.removed)
        gone.update(dict.fromkeys(self._store.match(NamedNode(id_), None, None, DELAYED_GRAPH)))
        left = any(quad not in gone for quad in self._store.match(None, None, None, DELAYED_GRAPH))
        left = left or any(quad.graph_name == DELAYED_GRAPH for quad in change.added)
        dropped = dict.fromkeys(change.graphs_dropped)
        if not left and self._store.contains_graph(DELAYED_GRAPH):
            dropped[DELAYED_GRAPH] = None
        return replace(change, removed=tuple(gone), graphs_dropped=tuple(dropped))

    def initial(self, spu: Spu) -> Never:
        """Nothing to give: there are no members."""
        raise AssertionError(spu)

    def told(self, spu: Spu) -> None:
        """Nothing: there are no members."""
        del spu

    def renew(self) -> None:
        """Read all entries again."""
        self._due.clear()
        self._heap.clear()
        for quad in self._store.match(None, _DUE, None, DELAYED_GRAPH):
            self._learn(quad.subject)

    def reach(self, artq: Artq) -> int:
        """No member is reached."""
        del artq
        return 0

    def hits(self, spu: Spu) -> int:
        """None: there are no members."""
        del spu
        return 0

    def process(self, artq: Artq) -> Iterable[Change]:
        """Read the entries that changed again."""
        for quad in (*artq.removed, *artq.added):
            self._learn(quad.subject)
        return ()

    def _learn(self, node: object) -> None:
        if not isinstance(node, NamedNode):
            return
        times = [_time(quad) for quad in self._store.match(node, _DUE, None, DELAYED_GRAPH)]
        requests = list(self._store.match(node, _REQUEST, None, DELAYED_GRAPH))
        known = [time for time in times if time is not None]
        if not (known and requests):
            self._due.pop(node.value, None)
        elif self._due.get(node.value) != min(known):
            self._due[node.value] = min(known)
            heappush(self._heap, (min(known), node.value))


def _time(quad: Quad) -> int | None:
    value = quad.object
    try:
        return int(value.value) if isinstance(value, Literal) else None
    except ValueError:
        return None


def _encoded(request: LastingRequest) -> str:
    default, named = (request.using or Dataset()).iris()
    return json.dumps(
        {
            "updates": [
                {"sparql": text, "bindings": {name: str(term) for name, term in bindings.items()}}
                for text, bindings in request.updates
            ],
            "using": default,
            "using_named": named,
            "read": _names(request.rights.read),
            "write": _names(request.rights.write),
            "reserved": _names(request.rights.reserved),
            "owner": request.owner,
            **({"infer": True} if request.infer else {}),
        },
        ensure_ascii=False,
    )


def _decoded(text: str) -> LastingRequest:
    value = json.loads(text)
    return LastingRequest(
        tuple(
            (each["sparql"], {name: _term(term) for name, term in each["bindings"].items()})
            for each in value["updates"]
        ),
        Dataset.chosen(map(NamedNode, value["using"]), map(NamedNode, value["using_named"])),
        Rights(
            _graphs(value["read"]),
            _graphs(value["write"]),
            _graphs(value.get("reserved", [])) or frozenset(),
        ),
        str(value.get("owner", "")),
        value.get("infer") is True,
    )


def _names(graphs: Graphs) -> Sequence[str] | None:
    return None if graphs is None else sorted(map(str, graphs))


def _graphs(names: Sequence[str] | None) -> Graphs:
    if names is None:
        return None
    terms = (DEFAULT_GRAPH if name == str(DEFAULT_GRAPH) else _term(name) for name in names)
    return frozenset(term for term in terms if not isinstance(term, Literal | Triple))


def _term(written: str) -> Term:
    """A term of N-Triples; blank nodes keep the store's identity."""
    (quad,) = parse(f"<urn:s> <urn:p> {written} .", RdfFormat.N_TRIPLES)
    term: Term = quad.object
    return term
