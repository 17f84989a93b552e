"""Why a triple pattern has no rows: a term that nothing has, or rows that have others there."""

from collections.abc import Iterator

from pyoxigraph import Literal, NamedNode, Variable

from gateway.admin.looking.near import Asking, Near, linked, similar
from gateway.admin.looking.parts import Part
from gateway.rdf.terms import Term
from gateway.sparql import algebra
from gateway.sparql.algebra import Element, TriplePattern
from gateway.sparql.paths import Path

_SAMPLE = 20_000
"""Triples that are looked at for predicates that are there."""

_KNOWN = 500
_FEW = 5
_FRESH = Variable("near")


def near_pattern(part: Part, asking: Asking, *, is_alone_empty: bool) -> Iterator[Near]:
    """What is near where a triple pattern starves; for another part nothing.

    At most five questions.
    """
    pattern = part.pattern
    if pattern is None or isinstance(pattern.predicate, Path):
        return
    if is_alone_empty:
        yield from _unknown(part, pattern, asking)
    elif part.before:
        yield from _others(part, pattern, asking)


def _unknown(part: Part, pattern: TriplePattern, asking: Asking) -> Iterator[Near]:
    """Which of its terms nothing has there."""
    subject, predicate, object_ = pattern.subject, pattern.predicate, pattern.object
    if isinstance(predicate, NamedNode):
        anything = TriplePattern(Variable("s"), predicate, Variable("o"))
        if not asking.has((_like(part, anything),)):
            sample = TriplePattern(Variable("s"), _FRESH, Variable("o"))
            known = asking.rows("?near", (_like(part, sample),), _SAMPLE)
            yield _missing(predicate, {each["near"] for each in known}, "predicate", asking)
            return
    if not isinstance(object_, Variable):
        others = TriplePattern(Variable("s"), predicate, _FRESH)
        known = asking.rows("DISTINCT ?near", (_like(part, others),), _KNOWN)
        terms = {each["near"] for each in known}
        if terms and object_ not in terms:
            assert isinstance(object_, NamedNode | Literal)  # noqa: S101
            yield _missing(object_, terms, f"value of {asking.told.term(predicate)}", asking)
            return
    if isinstance(subject, NamedNode):
        own = TriplePattern(subject, Variable("p"), Variable("o"))
        if not asking.has((_like(part, own),)):
            yield Near(
                asking.told.term(subject),
                "nothing in the store is about it",
                "correct the IRI, or have a device or an UPDATE write about it",
                link=linked(subject),
            )


def _missing(wanted: NamedNode | Literal, known: set[Term], role: str, asking: Asking) -> Near:
    name = asking.told.term(wanted)
    if alike := similar(wanted, known):
        likely = asking.told.term(alike[0])
        return Near(
            name,
            f"nothing has it as {role}; {asking.values(alike)} is there",
            f"write {likely} if you meant that",
            link=linked(alike[0]),
        )
    few = sorted(known, key=str)[:_FEW]
    there = f"; there are {asking.values(few)}" if few else ""
    return Near(
        name,
        f"nothing has it as {role}{there}",
        "correct the term, or have a mapping or an UPDATE write it",
        link=linked(wanted),
    )


def _others(part: Part, pattern: TriplePattern, asking: Asking) -> Iterator[Near]:
    """What the rows before it have in its place."""
    shown = asking.told.triple(pattern)
    instead = TriplePattern(pattern.subject, pattern.predicate, _FRESH)
    found = asking.rows("DISTINCT ?near", (*part.before, _like(part, instead)), _KNOWN)
    terms = [each["near"] for each in found]
    object_ = pattern.object
    if not terms:
        yield from _without(part, pattern, asking)
    elif isinstance(object_, Variable):
        few = asking.values(terms[:_FEW])
        yield Near(
            shown,
            f"the rows before it have {few} there, and none of it meets {asking.told.term(object_)}"
            " of the same row",
            "link both to the same thing: change the feature of a mapping, or the query",
            link=linked(terms[0]),
        )
    elif isinstance(object_, NamedNode | Literal):
        alike = similar(object_, terms) or terms
        yield Near(
            shown,
            f"none of the rows before it has that; they have {asking.values(alike[:_FEW])}",
            f"write {asking.told.term(alike[0])} if you meant that, or have the other written",
            link=linked(alike[0]),
        )


def _without(part: Part, pattern: TriplePattern, asking: Asking) -> Iterator[Near]:
    """Which things of the rows before it have nothing there at all."""
    subject, predicate = pattern.subject, asking.told.term(pattern.predicate)
    if not isinstance(subject, Variable):
        return
    name = asking.name(subject)
    found = asking.rows(f"DISTINCT ?{name}", part.before, _FEW)
    for term in [each[name] for each in found if name in each]:
        yield Near(
            asking.told.term(term),
            f"it has no {predicate}",
            f"link it: write {predicate} of it by an UPDATE, or by its mapping",
            link=linked(term),
        )


def _like(part: Part, pattern: TriplePattern) -> Element:
    """The pattern in the graph of the part's."""
    basic = algebra.BasicPattern((pattern,))
    if isinstance(part.element, algebra.Graph):
        return algebra.Graph(part.element.name, algebra.Group((basic,)))
    return basic
