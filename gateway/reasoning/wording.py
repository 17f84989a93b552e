"""Axioms and terms as people read them: `brick:Temperature_Sensor is a brick:Sensor`.

Place: for status, explanations and proofs; nothing is parsed from it.
"""

from pyoxigraph import Literal, NamedNode, Quad

from gateway.rdf.namespaces import GW, OWL, RDF, RDFS, SOSA, SSN, XSD
from gateway.rdf.terms import Term
from gateway.reasoning.kinds import (
    THING,
    And,
    Axiom,
    Chain,
    Conclusion,
    Disjoint,
    DomainOf,
    Expression,
    HasValue,
    Inverse,
    Only,
    Or,
    RangeOf,
    Some,
    SubClass,
    SubProperty,
    Symmetric,
    Transitive,
)

_PREFIXES = {
    "rdf": RDF,
    "rdfs": RDFS,
    "owl": OWL,
    "xsd": XSD,
    "sosa": SOSA,
    "ssn": SSN,
    "gw": GW,
    "brick": "https://brickschema.org/schema/Brick#",
    "bot": "https://w3id.org/bot#",
    "rec": "https://w3id.org/rec#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
}


def axiom_text(axiom: Axiom) -> str:
    """What an axiom says.

    >>> part = NamedNode("urn:part")
    >>> axiom_text(Transitive(part)), axiom_text(SubClass(Some(part, THING), NamedNode("urn:Part")))
    ('<urn:part> is transitive', 'what has <urn:part> is a <urn:Part>')
    """
    match axiom:
        case SubClass(sub, sup):
            return f"{_subject(sub)} {_concluded(sup)}"
        case SubProperty(sub, sup):
            return f"{term_text(sub)} implies {term_text(sup)}"
        case Inverse(first, second):
            return f"{term_text(first)} is the inverse of {term_text(second)}"
        case Symmetric(name):
            return f"{term_text(name)} is symmetric"
        case Transitive(name):
            return f"{term_text(name)} is transitive"
        case DomainOf(name, cls):
            return f"what has {term_text(name)} {_concluded(cls)}"
        case RangeOf(name, cls):
            return f"what {term_text(name)} leads to {_concluded(cls)}"
        case Chain(parts, sup):
            return f"{' then '.join(map(term_text, parts))} implies {term_text(sup)}"
        case Disjoint(first, second):
            return f"no {term_text(first)} is a {term_text(second)}"


def mostly_by(axiom: Axiom | None) -> str:
    """Behind a number of quads: which axiom derives most of them, if that is known."""
    return "" if axiom is None else f", most of them by: {axiom_text(axiom)}"


def quad_text(quad: Quad) -> str:
    """A quad; the graph behind it where it is a named one."""
    graph = f" in {quad.graph_name}" if isinstance(quad.graph_name, NamedNode) else ""
    subject, value = term_text(quad.subject), term_text(quad.object)
    return f"{subject} {term_text(quad.predicate)} {value}{graph}"


def term_text(term: Term) -> str:
    """A term, shorter where its namespace is a known one."""
    if isinstance(term, NamedNode):
        if term.value == f"{RDF}type":
            return "a"
        for prefix, namespace in _PREFIXES.items():
            local = term.value.removeprefix(namespace)
            if local != term.value and local.replace("_", "a").replace("-", "a").isalnum():
                return f"{prefix}:{local}"
    if isinstance(term, Literal) and not term.language and term.datatype.value == f"{XSD}string":
        return str(Literal(term.value))
    return str(term)


def _subject(expression: Expression) -> str:
    """Who is concerned, as the beginning of a sentence."""
    if isinstance(expression, NamedNode):
        return f"a {term_text(expression)}"
    return f"what {_condition(expression)}"


def _condition(expression: Expression) -> str:
    match expression:
        case NamedNode():
            return f"is a {term_text(expression)}"
        case Some(name, filler):
            if filler == THING:
                return f"has {term_text(name)}"
            return f"has {term_text(name)} to {_indefinite(filler)}"
        case HasValue(name, value):
            return f"has {term_text(name)} {term_text(value)}"
        case And(parts):
            return " and ".join(map(_condition, parts))
        case Or(parts):
            return " or ".join(map(_condition, parts))


def _indefinite(expression: Expression) -> str:
    if isinstance(expression, NamedNode):
        return f"a {term_text(expression)}"
    return f"(what {_condition(expression)})"


def _concluded(conclusion: Conclusion) -> str:
    match conclusion:
        case NamedNode():
            return f"is a {term_text(conclusion)}"
        case HasValue(name, value):
            return f"has {term_text(name)} {term_text(value)}"
        case Only(name, filler):
            return f"has {term_text(name)} only to what {_concluded(filler)}"
