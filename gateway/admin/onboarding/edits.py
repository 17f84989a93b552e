"""Edits: mappings to add, replace and remove, given as the JSON of a profile, as quads.

Place on the way of the data: what POST /mappings/apply takes, turned into what the nodes are to say
(`gateway.admin.onboarding.changes` writes it). All of them are one change, or none is made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyoxigraph import NamedNode, Quad

from gateway.admin.onboarding.nodes import ACTUATOR, PREFIXES, Members, Said, is_mapping
from gateway.errors import BadRequestError, ConflictError, InvalidMappingError, NotFoundError
from gateway.rdf.canonical import canonical_quad
from jsap.errors import JsapError
from jsap.extended.quads import is_member, one_mapping

_TOLD = ("actuator", "error")
"""Members of a listed mapping that are about it and not of it."""

_NONE: frozenset[Quad] = frozenset()


@dataclass(frozen=True, slots=True)
class Edits:
    """`add` and `replace` are mappings as JSON, `remove` are ids.

    What stands already as it is wanted is no change. Replacing leaves alone what somebody said of
    the node in other terms.
    """

    add: Sequence[Mapping[str, object]] = ()
    replace: Sequence[Mapping[str, object]] = ()
    remove: Sequence[str] = ()

    def wanted(self, said: Said) -> dict[NamedNode, frozenset[Quad]]:
        """What each node is to say, in the light of what it says now.

        Raises InvalidMappingError for what is no mapping, ConflictError to add one that is there,
        NotFoundError for one that is not, BadRequestError for one that is named twice.
        """
        wanted: dict[NamedNode, frozenset[Quad]] = {}
        for place, members in enumerate(self.add):
            node, quads = mapping_node(members, f"add[{place}]")
            there = said.of(node)
            _require_free(node, quads, there)
            _want(wanted, node, there or quads)
        for place, members in enumerate(self.replace):
            node, quads = mapping_node(members, f"replace[{place}]")
            kept = _others(_existing(said, node))
            _want(wanted, node, quads | kept)
        for id_ in self.remove:
            node = _node(id_)
            quads = _existing(said, node)
            _want(wanted, node, _NONE)
            for actuator in _own_actuators(said, quads):
                _want(wanted, actuator, _NONE)
        return wanted


def mapping_node(members: Mapping[str, object], path: str) -> tuple[NamedNode, frozenset[Quad]]:
    """The node of a mapping given as JSON, with its quads. Raises InvalidMappingError.

    Members by which a listed mapping tells of itself are passed over.
    """
    given = {name: value for name, value in members.items() if name not in _TOLD}
    try:
        quads = frozenset(map(canonical_quad, one_mapping(given, PREFIXES, path)))
    except JsapError as error:
        raise InvalidMappingError(f"{error.path}: {error.reason}", error.what_to_do) from error
    return _subject(quads), quads


def _subject(quads: frozenset[Quad]) -> NamedNode:
    return next(quad.subject for quad in quads if isinstance(quad.subject, NamedNode))


def _want(
    wanted: dict[NamedNode, frozenset[Quad]], node: NamedNode, quads: frozenset[Quad]
) -> None:
    if node in wanted:
        raise BadRequestError(f"{node.value} is named twice", "say once what is to become of it")
    wanted[node] = quads


def _require_free(node: NamedNode, quads: frozenset[Quad], there: frozenset[Quad]) -> None:
    """Unless the node is free, or says just this already."""
    if there and there - _others(there) != quads:
        raise ConflictError(
            f"there is a mapping {node.value} already", "replace it, or give yours another id"
        )


def _existing(said: Said, node: NamedNode) -> frozenset[Quad]:
    quads = said.of(node)
    if not quads:
        raise NotFoundError(
            f"there is no mapping {node.value}", "`sosa-gateway mapping list` shows those there are"
        )
    if not is_mapping(quads):
        raise ConflictError(f"{node.value} is no mapping", "change it by a SPARQL UPDATE")
    return quads


def _others(quads: frozenset[Quad]) -> frozenset[Quad]:
    """What a node says in terms that a mapping's JSON has no member for."""
    return frozenset(quad for quad in quads if not is_member(quad))


def _own_actuators(said: Said, quads: frozenset[Quad]) -> list[NamedNode]:
    """The actuators of a mapping that no other one has."""
    linked = [quad.object for quad in quads if quad.predicate == ACTUATOR]
    return [
        each
        for each in linked
        if isinstance(each, NamedNode) and len(said.naming(ACTUATOR, each)) == 1 and said.of(each)
    ]


def _node(id_: str) -> NamedNode:
    try:
        return NamedNode(id_)
    except ValueError as error:
        raise BadRequestError(f"{id_!r} is no IRI", "give the id of a mapping") from error


def members_with(members: Members, changes: Mapping[str, object]) -> Members:
    """A mapping's JSON with other values; None takes a member out."""
    changed = {**members, **changes}
    return {name: value for name, value in changed.items() if value is not None}
