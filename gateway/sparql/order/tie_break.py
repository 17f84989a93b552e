"""The total tie-break of LIMIT and OFFSET in a subscription (docs/engine.md, "Exactness").

Place: around the text of a subscribed query, before the store evaluates it; an oracle uses it too.
Which rows a slice takes must depend on the dataset alone, not on the order in which the store
happens to find them. So behind the keys of ORDER BY stand the columns in the order of their names,
which `total_order` makes keys that tell any two terms apart. Rows that are equal in all columns may
stand for each other. Sub-queries with a slice get the same.
"""

from collections.abc import Iterable, Sequence

from pyoxigraph import Variable

from gateway.runtime.text_cache import remembered
from gateway.sparql.algebra import Query, QueryForm, visible_variables
from gateway.sparql.parser import parse_query
from gateway.sparql.scope import walk
from jsap.lexer import Token, TokenKind, splice, tokenize

_HINTS = ("limit", "offset", "\\")


def with_tie_break(query_text: str) -> str:
    """The query with a total order wherever it has a LIMIT or OFFSET. Raises SparqlSyntaxError.

    >>> with_tie_break("SELECT ?s ?o { ?s ?p ?o } LIMIT 1")
    'SELECT ?s ?o { ?s ?p ?o }  ORDER BY ?o ?s  LIMIT 1'
    """
    lowered = query_text.lower()
    return _ordered(query_text) if any(hint in lowered for hint in _HINTS) else query_text


@remembered()
def _ordered(text: str) -> str:
    sliced = [
        node
        for node in walk(parse_query(text, is_admitted=True))
        if isinstance(node, Query) and (node.limit is not None or node.offset is not None)
    ]
    tokens = tokenize(text)
    edits = [_edit(query, tokens) for query in sliced if _keys(query)]
    return splice(text, sorted(edits))


def _edit(query: Query, tokens: Sequence[Token]) -> tuple[int, int, str]:
    place = _slice_start(query.where.end, tokens)
    keys = _keys(query)
    return place, place, f" {keys} " if query.order_by else f" ORDER BY {keys} "


def _keys(query: Query) -> str:
    return " ".join(map(str, _columns(query)))


def _columns(query: Query) -> Iterable[Variable]:
    match query.form:
        case QueryForm.SELECT:
            return sorted(query.projected, key=str)
        case QueryForm.CONSTRUCT:
            return sorted(visible_variables(query.where.elements), key=str)
        case _:
            return ()


def _slice_start(after: int, tokens: Sequence[Token]) -> int:
    """Where LIMIT or OFFSET begins: the first one behind the WHERE that is in no brackets."""
    depth = 0
    for token in tokens:
        if token.start < after:
            continue
        if token.text in {"{", "(", "["}:
            depth += 1
        elif token.text in {"}", ")", "]"}:
            depth -= 1
        elif depth == 0 and token.kind is TokenKind.WORD and token.text.upper() in _WORDS:
            return token.start
    raise AssertionError("a query with a slice has its word")


_WORDS = frozenset({"LIMIT", "OFFSET"})
