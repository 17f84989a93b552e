"""The form in which the store gives a literal back: `21.50` becomes `21.5`, `1` `true`.

Oxigraph keeps XSD numbers, booleans, times and durations as values, so what comes out is not
always what went in. A Delta holds terms as the store gives them; otherwise an answer computed from
a Delta and one computed by a query would not be the same. The store itself is asked; only forms
that are surely canonical already are recognised here.
"""

import re

from pyoxigraph import Literal, NamedNode, Quad, Store, Triple

from gateway.rdf.namespaces import RDF, XSD
from gateway.rdf.terms import Term
from gateway.runtime.text_cache import remembered

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DECIMAL = re.compile(r"0|-?[1-9][0-9]{0,17}|-?(?:0|[1-9][0-9]{0,17})\.[0-9]{0,16}[1-9]")
_DOUBLE = re.compile(r"-?(?:0|[1-9][0-9]{0,6})\.[0-9]{0,6}[1-9]")
_BOOLEAN = re.compile(r"true|false")
_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}(?:\.[0-9]{0,5}[1-9])?Z"
)
_ALREADY = {
    XSD + "integer": _INTEGER,
    XSD + "decimal": _DECIMAL,
    XSD + "double": _DOUBLE,
    XSD + "boolean": _BOOLEAN,
    XSD + "dateTime": _DATE_TIME,
    XSD + "dateTimeStamp": _DATE_TIME,
}
_AS_WRITTEN = frozenset({XSD + "string", RDF + "langString", RDF + "dirLangString"})
_NODE = NamedNode("urn:x")
_WITH_FORMS = frozenset({Literal, Triple})
"""Types of terms that may come back otherwise; none can have a subtype."""


def canonical(term: Term) -> Term:
    """The term as the store gives it back.

    >>> canonical(Literal("21.50", datatype=NamedNode(XSD + "decimal"))).value
    '21.5'
    """
    if isinstance(term, Literal):
        return _canonical_literal(term)
    if isinstance(term, Triple):
        found = canonical(term.object)
        return term if found is term.object else Triple(term.subject, term.predicate, found)
    return term


def _canonical_literal(term: Literal) -> Literal:
    datatype = term.datatype.value
    already = _ALREADY.get(datatype)
    if already is not None and already.fullmatch(term.value):
        return term
    if datatype in _AS_WRITTEN or not datatype.startswith(XSD):
        return term
    return _through_a_store(term)


@remembered(length=lambda literal: len(literal.value))
def _through_a_store(literal: Literal) -> Literal:
    store = Store()
    store.add(Quad(_NODE, _NODE, literal))
    (quad,) = store
    found = quad.object
    return found if isinstance(found, Literal) else literal


def canonical_quad(quad: Quad) -> Quad:
    """The quad as the store gives it back; the same object where nothing changes."""
    term = quad.object
    if type(term) not in _WITH_FORMS:
        return quad
    found = canonical(term)
    if found is term:
        return quad
    return Quad(quad.subject, quad.predicate, found, quad.graph_name)


def canonical_triple(triple: Triple) -> Triple:
    """The triple as the store gives it back; the same object where nothing changes."""
    term = triple.object
    if type(term) not in _WITH_FORMS:
        return triple
    found = canonical(term)
    return triple if found is term else Triple(triple.subject, triple.predicate, found)
