"""SPARQL results as JSON, read: terms and rows as values.

Place: what a client is answered and notified. Source: SPARQL 1.1 Query Results JSON Format (W3C,
2013), sections 3 and 4; triple terms as in the SPARQL 1.2 draft. `gateway.gates.protocol.wire`
writes it.
"""

from collections.abc import Mapping
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from gateway.rdf.solutions import Solution
from gateway.rdf.terms import Term

TRUE: tuple[Solution, ...] = ({},)
"""The answer of an ASK that is true: one solution without bindings; no solution is false."""


def decode_term(members: Mapping[str, Any]) -> Term:
    """An RDF term (section 3.2.2). Raises ValueError for what is none.

    >>> decode_term({"type": "literal", "value": "chat", "xml:lang": "fr"})
    <Literal value=chat language=fr>
    """
    try:
        return _term(members)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no RDF term: {members!r:.100}") from error


def _term(members: Mapping[str, Any]) -> Term:
    value = members["value"]
    match members["type"]:
        case "uri":
            return NamedNode(value)
        case "bnode":
            return BlankNode(value)
        case "literal" | "typed-literal":  # the latter in the working drafts, and in old stores
            return _literal(value, members)
        case "triple":
            return _triple(*(_term(value[part]) for part in ("subject", "predicate", "object")))
        case other:
            raise ValueError(f"no type of an RDF term: {other!r:.100}")


def _triple(subject: Term, predicate: Term, object_: Term) -> Triple:
    if isinstance(subject, Literal) or not isinstance(predicate, NamedNode):
        raise ValueError(f"no triple: {subject} {predicate} {object_}")
    return Triple(subject, predicate, object_)


def _literal(value: str, members: Mapping[str, Any]) -> Literal:
    if language := members.get("xml:lang"):
        return Literal(value, language=language)
    datatype = members.get("datatype")
    return Literal(value) if datatype is None else Literal(value, datatype=NamedNode(datatype))


def decode_solutions(results: Any) -> tuple[Solution, ...]:
    """The solutions of a results object, in its order; an ASK that is true is `TRUE`.

    An object without results has none. Raises ValueError for what is no results object.
    """
    if not isinstance(results, Mapping):
        raise ValueError(f"no results object: {results!r:.100}")
    if "boolean" in results:
        return TRUE if results["boolean"] is True else ()
    try:
        bindings = results["results"]["bindings"] if "results" in results else ()
        return tuple(
            {name: decode_term(term) for name, term in binding.items()} for binding in bindings
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no results object: {results!r:.100}") from error
