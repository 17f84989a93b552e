r"""Ground data: an INSERT DATA or DELETE DATA that is N-Triples between braces, read by Oxigraph.

Place: before the parser of UPDATEs, for the text of each. What publishes descriptions sends such
texts, each as long as its resource has triples, so they share few plans (`sparql.shape`). Only
what means the same to both is taken: absolute IRIs and strings in double quotes, without escapes,
language, comments or blank nodes, a triple a line; all else is left to the parser, errors too.
Sources: SPARQL 1.1 Update, section 3.1; N-Triples, section 7 (grammar).
"""

import re
from typing import NamedTuple

from pyoxigraph import Quad, RdfFormat, parse

LONGEST_TEXT = 16_384
"""Characters; a longer text is a bulk load, which the parser's bounds are about."""

_IRI = r'<[^\x00-\x20<>"{}|^`\\]++>'
_STRING = rf'"[^"\\\n\r]*+"(?:\^\^{_IRI})?+'
_TRIPLE = rf"{_IRI} {_IRI} (?:{_IRI}|{_STRING}) \.\n"
_DATA = re.compile(rf"(INSERT|DELETE) DATA \{{ ((?:{_TRIPLE})++)\}}")


class GroundData(NamedTuple):
    """The quads that a text inserts, or deletes, as it writes them."""

    quads: list[Quad]
    deletes: bool


def ground_data(text: str) -> GroundData | None:
    r"""The quads of a text; None where the parser has to read it.

    >>> found = ground_data('DELETE DATA { <urn:a> <urn:p> "1" .\n}')
    >>> found.deletes, [quad.object.value for quad in found.quads]
    (True, ['1'])
    >>> ground_data("DELETE DATA { <urn:a> <urn:p> 1 }") is None
    True
    """
    if len(text) > LONGEST_TEXT:
        return None
    found = _DATA.fullmatch(text)
    if found is None:
        return None
    try:
        quads = list(parse(found[2], format=RdfFormat.N_TRIPLES))
    except SyntaxError:
        return None
    return GroundData(quads, found[1] == "DELETE")
