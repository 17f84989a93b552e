"""The functions of geometry that GeoSPARQL has and the store lacks: distance and length.

Place: given to every evaluation, as those of the clock are: `gw:distance` of two geo:wktLiterals,
`gw:length` of one, in the units of their coordinates. Without a value for what is no geometry.
"""

from collections.abc import Callable

from pyoxigraph import Literal, NamedNode

from gateway.rdf.namespaces import GW
from gateway.rdf.terms import Term
from gateway.rdf.wkt import distance, length

_WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"


def _distance(mine: Term, theirs: Term) -> Literal | None:
    one, other = _wkt(mine), _wkt(theirs)
    if one is None or other is None:
        return None
    try:
        return Literal(distance(one, other))
    except ValueError:
        return None


def _length(of: Term) -> Literal | None:
    text = _wkt(of)
    try:
        return None if text is None else Literal(length(text))
    except ValueError:
        return None


def _wkt(term: Term) -> str | None:
    is_wkt = isinstance(term, Literal) and term.datatype.value == _WKT
    return term.value if is_wkt and isinstance(term, Literal) else None


GEOMETRY: dict[NamedNode, Callable[..., Term | None]] = {
    NamedNode(GW + "distance"): _distance,
    NamedNode(GW + "length"): _length,
}
"""By their IRIs."""
