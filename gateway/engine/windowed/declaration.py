"""Windows and streams that have names of their own: nodes of the graph of mappings.

    gw:Window node, with a member `m` as gw:windowM -> Window;  gw:ElementStream node -> a stream

Place: between that graph, which UPDATEs and profiles write, and whoever subscribes by the name.
Terms: ontologies/gateway.ttl.
"""

from collections.abc import Iterable, Mapping

from pyoxigraph import Literal, NamedNode, Quad

from gateway.errors import WindowError
from gateway.rdf.namespaces import GW, XSD
from gateway.windows.members import IRIS, MEMBERS
from gateway.windows.window import Window

WINDOW = NamedNode(f"{GW}Window")
ELEMENT_STREAM = NamedNode(f"{GW}ElementStream")
TERMS: Mapping[str, str] = {f"{GW}window{member.capitalize()}": member for member in MEMBERS}
"""The member of a declaration that each term says."""

_INTEGER = XSD + "integer"
_BOOLEAN = XSD + "boolean"


def declared_window(node: NamedNode, quads: Iterable[Quad]) -> Window:
    """The window that a node declares. Raises WindowError: which node, which member, why."""
    members: dict[str, object] = {}
    try:
        for quad in quads:
            member = TERMS.get(quad.predicate.value)
            if member is not None:
                _add(members, member, _value(member, quad))
        return Window.parse(members, where=node.value)
    except WindowError as error:
        raise error if error.member.startswith(node.value) else error.within(node.value) from None


def _add(members: dict[str, object], member: str, value: object) -> None:
    if member in IRIS:
        known = members.setdefault(member, [])
        assert isinstance(known, list)  # noqa: S101  # made here
        known.append(value)
    elif member in members:
        raise WindowError(member, "has several values", "leave one")
    else:
        members[member] = value


def _value(member: str, quad: Quad) -> object:
    """A number, a truth value, or a text, as JSON has them."""
    term = quad.object
    if isinstance(term, NamedNode):
        return term.value
    if not isinstance(term, Literal):
        raise WindowError(member, f"{term} is neither an IRI nor a literal")
    if term.datatype.value == _INTEGER:
        return _integer(member, term)
    if term.datatype.value == _BOOLEAN:
        return term.value == "true"
    return term.value


def _integer(member: str, term: Literal) -> int:
    try:
        return int(term.value)
    except ValueError:  # not one, or of so many digits that Python does not read it
        raise WindowError(member, f'"{term.value:.40}" is no number that can be used') from None
