"""Changes of mappings: applied as a whole, recorded, undone as long as nobody changed them since.

Place on the way of the data: between the API and the scheduler, in whose thread these functions are
called: what they read cannot change before their Delta is written. A change and its record are one
transaction in the store; the record has the nodes concerned, before and after, as N-Quads.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, unique

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse, serialize

from adapters.values.units import unit_defect
from gateway.admin.onboarding.nodes import (
    TYPE,
    Compiled,
    Nodes,
    Said,
    nodes_of,
    said_of,
    stored_nodes,
)
from gateway.engine import Engine
from gateway.errors import ConflictError, InvalidMappingError, NotFoundError
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.delta import Delta, quads_delta
from gateway.rdf.namespaces import CHANGES_GRAPH, GW, XSD
from gateway.rdf.terms import Term

MOST_CHANGES = 100
"""In the history; the oldest goes, one that the configuration made before one of a person."""

MOST_BYTES = 4_194_304
"""How long the history may be, before and after of all changes together."""

_CHANGE = NamedNode(GW + "MappingChange")
_KIND = NamedNode(GW + "changeKind")
_AT = NamedNode(GW + "changedAt")
_BY = NamedNode(GW + "changedBy")
_NODE = NamedNode(GW + "changedMapping")
_BEFORE = NamedNode(GW + "before")
_AFTER = NamedNode(GW + "after")
_UNDOES = NamedNode(GW + "undoes")
_TOPIC_FILTER = NamedNode(GW + "topicFilter")
_DATE_TIME = NamedNode(XSD + "dateTime")
_UNITS = frozenset({NamedNode(GW + "unit"), NamedNode(GW + "deviceUnit")})


@unique
class Kind(Enum):
    """How a change came about."""

    APPLY = "apply"
    CONFIRM = "confirm"
    ACCEPT = "accept"
    MIGRATE = "migrate"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes mappings, how and when; `identity` is empty where nobody was asked."""

    identity: str
    kind: Kind
    at: datetime

    @classmethod
    def now(cls, identity: str, kind: Kind) -> "Author":
        """At this moment."""
        return cls(identity, kind, datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class MappingChange:
    """A recorded change; `before` and `after` are all quads of the nodes that it concerns."""

    number: int
    kind: str
    at: str
    by: str
    before: frozenset[Quad]
    after: frozenset[Quad]
    undoes: str = ""

    @property
    def nodes(self) -> frozenset[NamedNode]:
        """The mappings, and actuators, that it changed."""
        every = (quad.subject for quad in self.before | self.after)
        return frozenset(node for node in every if isinstance(node, NamedNode))

    def quads(self) -> list[Quad]:
        """As data."""
        node = _node(self.number)
        told: list[tuple[NamedNode, Term]] = [
            (TYPE, _CHANGE),
            (_KIND, Literal(self.kind)),
            (_AT, Literal(self.at, datatype=_DATE_TIME)),
            (_BEFORE, Literal(_written(self.before))),
            (_AFTER, Literal(_written(self.after))),
            *((_NODE, changed) for changed in self.nodes),
        ]
        told += [(_BY, Literal(self.by))] if self.by else []
        told += [(_UNDOES, _node(int(self.undoes)))] if self.undoes else []
        return [canonical_quad(Quad(node, term, value, CHANGES_GRAPH)) for term, value in told]


def recorded(nodes: Nodes) -> list[MappingChange]:
    """The history, from what its graph says, the last change first; what is none is left out."""
    changes = []
    for node, quads in nodes.items():
        told = {quad.predicate: quad.object for quad in quads}
        try:
            changes.append(_change(node, told))
        except (KeyError, ValueError, AttributeError):
            continue  # somebody wrote it
    return sorted(changes, key=lambda change: -change.number)


def history(engine: Engine) -> list[MappingChange]:
    """The last change first."""
    return recorded(stored_nodes(engine, CHANGES_GRAPH))


def replacing(
    engine: Engine, wanted: Mapping[NamedNode, frozenset[Quad]], author: Author, undoes: str = ""
) -> tuple[Delta, MappingChange | None]:
    """The Delta after which each node says what is wanted, with its record; nothing is no change.

    An empty set of quads removes a node.
    """
    nodes = {node: said_of(engine, node) for node in wanted}
    wanted = {node: frozenset(map(canonical_quad, quads)) for node, quads in wanted.items()}
    none: frozenset[Quad] = frozenset()
    differing = [node for node, quads in wanted.items() if nodes[node] != quads]
    if not differing:
        return Delta(), None
    past = history(engine)
    change = MappingChange(
        past[0].number + 1 if past else 1,
        author.kind.value,
        author.at.isoformat().replace("+00:00", "Z"),
        author.identity,
        none.union(*(nodes[node] for node in differing)),
        none.union(*(wanted[node] for node in differing)),
        undoes,
    )
    gone = [quad for old in _too_many([change, *past]) for quad in _stored(engine, old)]
    return quads_delta(
        [*(change.after - change.before), *change.quads()],
        [*(change.before - change.after), *gone],
    ), change


def undoing(
    engine: Engine, number: str, identity: str, *, force: bool = False
) -> tuple[Delta, MappingChange | None]:
    """The Delta that takes a change back.

    Raises NotFoundError, and ConflictError where a node is not as that change left it, unless by
    `force`.
    """
    change = _find(engine, number)
    none: frozenset[Quad] = frozenset()
    before, after = nodes_of(change.before), nodes_of(change.after)
    now = {node: said_of(engine, node) for node in change.nodes}
    others = [
        node.value
        for node in sorted(change.nodes, key=str)
        if now[node] not in (after.get(node, none), before.get(node, none))
    ]
    if others and not force:
        raise ConflictError(
            f"changed since by somebody else: {', '.join(others[:5])}",
            "look at them with `sosa-gateway mapping list`; --force undoes it all the same",
        )
    wanted = {node: before.get(node, none) for node in change.nodes}
    return replacing(engine, wanted, Author.now(identity, Kind.UNDO), number)


def require_good(said: Said, wanted: Mapping[NamedNode, frozenset[Quad]]) -> None:
    """Raise InvalidMappingError unless every wanted mapping compiles.

    It is compiled with all others of its topic filters, for these share an adapter; what was
    wrong with one of them before stays its own matter.
    """
    for node, quads in wanted.items():
        refuse_unit(node, quads - said.of(node))
    beside = {node: said.of(node) for node in _neighbours(said, wanted)}
    errors = Compiled.of({**beside, **wanted}).errors
    if not errors:
        return
    known = Compiled.of(beside).errors
    new = [
        str(error)
        for iri, error in sorted(errors.items())
        if NamedNode(iri) in wanted or iri not in known
    ]
    if new:
        more = f" (and {len(new) - 1} more)" if len(new) > 1 else ""
        raise InvalidMappingError(f"{new[0]}{more}; nothing was changed", "correct this member")


def refuse_unit(node: NamedNode, quads: Iterable[Quad]) -> None:
    """Raise InvalidMappingError for a unit that QUDT does not have."""
    for quad in quads:
        if quad.predicate in _UNITS and isinstance(quad.object, NamedNode | Literal):
            defect = unit_defect(quad.object.value)
            if defect:
                raise InvalidMappingError(f"{node.value}: {defect}", "correct the unit")


def _neighbours(said: Said, wanted: Mapping[NamedNode, frozenset[Quad]]) -> frozenset[NamedNode]:
    """The mappings of the same topic filters."""
    filters = {q.object for quads in wanted.values() for q in quads if q.predicate == _TOPIC_FILTER}
    none: frozenset[NamedNode] = frozenset()
    return none.union(*(said.naming(_TOPIC_FILTER, each) for each in filters))


def _find(engine: Engine, number: str) -> MappingChange:
    for change in history(engine):
        if str(change.number) == number:
            return change
    raise NotFoundError(
        f"there is no change {number}", "`sosa-gateway mapping history` lists those that there are"
    )


def _too_many(changes: list[MappingChange]) -> list[MappingChange]:
    """The changes that have to go; never the first."""
    gone: list[MappingChange] = []
    left = list(changes)
    sizes = {change.number: len(_written(change.before | change.after)) for change in changes}
    while len(left) > 1 and (
        len(left) > MOST_CHANGES or sum(sizes[each.number] for each in left) > MOST_BYTES
    ):
        accepted = [each for each in left[1:] if each.kind == Kind.ACCEPT.value]
        oldest = (accepted or left)[-1]
        left.remove(oldest)
        gone.append(oldest)
    return gone


def _stored(engine: Engine, change: MappingChange) -> list[Quad]:
    return engine.store.match(_node(change.number), None, None, CHANGES_GRAPH)


def _node(number: int) -> NamedNode:
    return NamedNode(f"{CHANGES_GRAPH.value}/{number}")


def _change(node: NamedNode, told: Mapping[NamedNode, object]) -> MappingChange:
    """Raises KeyError, ValueError or AttributeError where the node is no change of ours."""

    def text(term: NamedNode, otherwise: str | None = None) -> str:
        value = told[term] if otherwise is None else told.get(term, Literal(otherwise))
        return value.value  # type: ignore[attr-defined, no-any-return]  # told above

    return MappingChange(
        int(node.value.rpartition("/")[2]),
        text(_KIND),
        text(_AT),
        text(_BY, ""),
        _read(text(_BEFORE)),
        _read(text(_AFTER)),
        text(_UNDOES, "").rpartition("/")[2],
    )


def _written(quads: Iterable[Quad]) -> str:
    return serialize(sorted(quads, key=str), format=RdfFormat.N_QUADS).decode()  # type: ignore[union-attr]


def _read(text: str) -> frozenset[Quad]:
    """Raises SyntaxError as the ValueError that it is not."""
    try:
        return frozenset(parse(text, format=RdfFormat.N_QUADS))
    except SyntaxError as error:
        raise ValueError(str(error)) from error
