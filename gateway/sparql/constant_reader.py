"""Constants of a text as terms, plain ones without a parser: what parameters are bound to.

Place: `shape` asks it for each text of a known shape, so it is fast; what is not plain goes the
long way through `TermParser`, which is right for all. Terms are remembered, since the same come
again: sensors, units, datatypes.
"""

import re
from collections.abc import Callable, Mapping

from pyoxigraph import Literal, NamedNode

from gateway.rdf.terms import Term
from gateway.sparql.parameters import Parameters, Span
from gateway.sparql.term_parser import NUMBER_TYPES, TermParser

MOST_REMEMBERED = 4096

_ESCAPED = re.compile(r"\\(.)")

Read = Callable[[str], Term]


def constant_reader(span: Span, parameters: Parameters) -> Read:
    """What makes terms of the constants that stand where the parser found the parameter `span`.

    It raises SparqlSyntaxError or ValueError for a text that is no term.
    """
    prefixes = parameters.prefixes or {}
    prefix = parameters.found[span]
    return _Reader(prefixes, parameters.base, "" if prefix is None else prefixes[prefix])


class _Reader:
    """The terms of one parameter; `namespace` is that of its prefixed names."""

    __slots__ = ("_base", "_known", "_namespace", "_prefixes")

    def __init__(self, prefixes: Mapping[str, str], base: str, namespace: str) -> None:
        self._prefixes = prefixes
        self._base = base
        self._namespace = namespace
        self._known: dict[str, Term] = {}

    def __call__(self, text: str) -> Term:
        term = self._known.get(text)
        if term is None:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            term = self._known[text] = self._read(text)
        return term

    def _read(self, text: str) -> Term:
        first = text[0]
        if first == ":":
            name = text[1:]
            return NamedNode(
                self._namespace + (_ESCAPED.sub(r"\1", name) if "\\" in name else name)
            )
        if first == "<":
            return self._parser(text).iri() if self._base else NamedNode(text[1:-1])
        if first in "\"'":
            return self._string(text)
        return Literal(text, datatype=NUMBER_TYPES[_number_type(text)])

    def _string(self, text: str) -> Literal:
        if "\\" in text or text[:3] in {'"""', "'''"}:
            return self._parser(text).literal()
        end = text.index(text[0], 1)
        value, tail = text[1:end], text[end + 1 :]
        if not tail:
            return Literal(value)
        if tail[0] == "@":
            return Literal(value, language=tail[1:])
        return Literal(value, datatype=self._datatype(tail))

    def _datatype(self, tail: str) -> NamedNode:
        """The datatype in `^^<iri>` or `^^prefix:name`, remembered as other terms are."""
        known = self._known.get(tail)
        if not isinstance(known, NamedNode):
            known = self._known[tail] = self._parser(tail[2:]).iri()
        return known

    def _parser(self, text: str) -> TermParser:
        parser = TermParser(text, self._base)
        parser.prefixes = dict(self._prefixes)
        return parser


def _number_type(text: str) -> str:
    if "e" in text or "E" in text:
        return "double"
    return "decimal" if "." in text else "integer"
