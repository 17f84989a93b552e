"""What follows about the named classes and properties of the ontology graph themselves.

Place: under `NaiveReasoner`. Source: OWL 2 Web Ontology Language Profiles, section 4.3, table 9:
scm-sco, scm-eqc1, scm-spo, scm-eqp1, scm-dom1 and 2, scm-rng1 and 2; and for the named parts of
blank classes what scm-int and scm-uni say.
"""

from collections.abc import Iterable, Iterator

from pyoxigraph import BlankNode, NamedNode

from gateway.rdf.namespaces import OWL
from gateway.rdf.terms import Term
from tests.kit.reasoning.fixpoint.closure import (
    AND,
    CHAIN,
    DOMAIN,
    NOTHING,
    OR,
    RANGE,
    SAME_CLASS,
    SAME_PROPERTY,
    SUB_CLASS,
    SUB_PROPERTY,
    THING,
    Fact,
    Schema,
)

Above = dict[NamedNode, set[NamedNode]]

_TOPS = frozenset({NamedNode(OWL + "topObjectProperty"), NamedNode(OWL + "topDataProperty")})


def schema_closure(schema: Schema) -> set[Fact]:
    """All that follows, what is asserted among it; no blank node, owl:Thing nor owl:Nothing."""
    classes = _closed(_classes_above(schema))
    properties = _closed(_properties_above(schema))
    found: set[Fact] = {(one, SUB_CLASS, up) for one, ups in classes.items() for up in ups}
    found |= {(one, SUB_PROPERTY, up) for one, ups in properties.items() for up in ups}
    for subject, predicate, object_ in schema.facts:
        if predicate in (DOMAIN, RANGE) and isinstance(subject, NamedNode):
            below = {one for one, ups in properties.items() if subject in ups} | {subject}
            tops = _parts(schema, object_)
            tops |= {up for node in tops for up in classes.get(node, ())}
            found |= {(one, predicate, top) for one in below for top in tops}
    return found


def _properties_above(schema: Schema) -> Above:
    found: Above = {}
    for subject, predicate, object_ in schema.facts:
        links = schema.members(object_) if predicate == CHAIN else []
        if predicate in (SUB_PROPERTY, SAME_PROPERTY):
            _note(found, subject, object_)
        if predicate == SAME_PROPERTY:
            _note(found, object_, subject)
        if len(links) == 1:
            _note(found, links[0], subject)
    return found


def _note(found: Above, below: Term, above: Term) -> None:
    if not isinstance(below, NamedNode) or not isinstance(above, NamedNode):
        return
    if below != above and above not in _TOPS:
        found.setdefault(below, set()).add(above)


def _classes_above(schema: Schema) -> Above:
    """The named classes directly above each, with nothing but blank ones between."""
    found: Above = {}
    ends = {end for fact in schema.facts for end in (fact[0], fact[2])}
    for start in ends - {THING, NOTHING}:
        if not isinstance(start, NamedNode):
            continue
        for node in _up(schema, start):
            found.setdefault(start, set()).update(_parts(schema, node) - {start})
    return found


def _parts(schema: Schema, start: Term) -> set[NamedNode]:
    """The class, or for a blank one the named classes that its members are in."""
    found: set[NamedNode] = set()
    seen: set[Term] = set()
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if isinstance(node, NamedNode):
            found |= {node} - {THING, NOTHING}
        elif node not in seen:
            seen.add(node)
            waiting += _up(schema, node)
    return found


def _up(schema: Schema, node: Term) -> Iterator[Term]:
    """Each class that says of itself, or of which it is said, that it is above this one."""
    yield from schema.both(node, SUB_CLASS, SAME_CLASS)
    for head in schema.objects(node, AND):
        yield from schema.members(head)
    for whole, _ in schema.holders(node, OR):
        yield whole
    for whole, parts in schema.holders(node, AND):
        if {_same(schema, part) for part in parts if not schema.is_everything(part)} == {node}:
            yield whole


def _same(schema: Schema, node: Term) -> Term:
    """What a blank class of one part alone is, or the class itself."""
    for predicate in (AND, OR) if isinstance(node, BlankNode) else ():
        for head in schema.objects(node, predicate):
            parts = {_same(schema, part) for part in schema.members(head)}
            if len(parts) == 1:
                return parts.pop()
    return node


def _closed(above: Above) -> Above:
    return {start: _reached(above, ups) for start, ups in above.items()}


def _reached(above: Above, starts: Iterable[NamedNode]) -> set[NamedNode]:
    seen: set[NamedNode] = set()
    waiting = list(starts)
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += above.get(node, ())
    return seen
