"""Quads as N-Quads and back: one call of a writer or parser for all that travel together.

Place: below the wire. What comes is not trusted, and most of what a parser costs is to look whether
each IRI is one. A text that is plain by one pass of an automaton (RE2, linear in its length) has
none that is not, and is parsed without that. Source: RDF 1.1 N-Quads, section 3; RFC 3986, appendix
A, of which `_IRI` has a part.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

import re2
from pyoxigraph import Quad, RdfFormat, Triple, parse, serialize

_CHARACTER = rb"[A-Za-z0-9._~!$&'()*+,;=:@-]"
_PATH = rb"(?:" + _CHARACTER + rb"|/)*"
_HTTP = rb"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:/" + _PATH + rb")?"
_URN = rb"urn:[A-Za-z0-9]" + _PATH
_REST = rb"(?:\?" + _PATH + rb")?(?:#" + _PATH + rb")?"
_IRI = rb"<(?:" + _HTTP + rb"|" + _URN + rb")" + _REST + rb">"
_LITERAL = rb'"[ !#-\[\]-~]*"(?:\^\^<http://www\.w3\.org/2001/XMLSchema#[A-Za-z]+>)?'
_LINE = _IRI + rb" " + _IRI + rb" (?:" + _IRI + rb"|" + _LITERAL + rb")(?: " + _IRI + rb")? \.\n"
_PLAIN = re2.compile(rb"(?:" + _LINE + rb")*")
"""Lines of IRIs without escapes, and of literals of printable ASCII without a language."""


class Quads(NamedTuple):
    """What a text says.

    One that `has_nodes` may have blank nodes, and one that `has_types` literals of a datatype,
    whose forms may differ.
    """

    quads: Sequence[Quad]
    has_nodes: bool = False
    has_types: bool = False


def written(quads: Sequence[Quad | Triple]) -> bytes:
    """The lines of some quads, in their order; triples are of the default graph."""
    if not quads:
        return b""
    # Its types say that either all are quads or all triples, and it takes both.
    return serialize(cast(Sequence[Quad], quads), format=RdfFormat.N_QUADS) or b""


def read(text: bytes) -> Quads:
    """The reverse of `written`. Raises SyntaxError, and ValueError for what is no UTF-8."""
    if not text:
        return Quads(())
    is_checked = is_plain(text)
    quads = list(parse(text, format=RdfFormat.N_QUADS, lenient=is_checked))
    return Quads(quads, not is_checked and b"_:" in text, b"^^" in text)


def is_plain(text: bytes) -> bool:
    """Whether a text is known to be right: lines without blank nodes, escapes and languages."""
    return _PLAIN.fullmatch(text) is not None
