"""Query texts whose `GRAPH ?g` ranges over fewer graphs: those of windows are left out.

Place: before a subscription over windows, whose graphs stand beside the store's in one dataset.
`GRAPH ?g` names a window only where FROM NAMED lists it, so without a dataset each such clause is
put into a group that keeps the others. Exact, since `?g` is bound in every solution of the clause,
and a group around one element changes no join (SPARQL 1.1 Query Language, sections 13.3 and 18.2).
"""

from collections.abc import Iterable, Iterator, Sequence

from pyoxigraph import NamedNode

from jsap.lexer import Token, TokenKind, splice, tokenize


def without_graphs(text: str, graphs: Iterable[NamedNode]) -> str:
    """The query, which is one, with these graphs hidden from every `GRAPH ?g`.

    >>> without_graphs("SELECT * { GRAPH ?g { ?s ?p ?o } }", [NamedNode("urn:w")])
    'SELECT * { { GRAPH ?g { ?s ?p ?o } FILTER(?g NOT IN (<urn:w>)) } }'
    """
    hidden = ", ".join(sorted(map(str, graphs)))
    return splice(text, sorted(_edits(tokenize(text), hidden))) if hidden else text


def _edits(tokens: Sequence[Token], hidden: str) -> Iterator[tuple[int, int, str]]:
    for at, (keyword, name, brace) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False)):
        is_clause = keyword.kind is TokenKind.WORD and keyword.text.upper() == "GRAPH"
        if is_clause and name.kind is TokenKind.VAR and brace.text == "{":
            end = tokens[_closing(tokens, at + 2)]
            yield keyword.start, keyword.end, "{ GRAPH"
            yield end.start, end.end, f"}} FILTER({name.text} NOT IN ({hidden})) }}"


def _closing(tokens: Sequence[Token], opening: int) -> int:
    """The place of the brace that closes the one in this place."""
    depth = 0
    for at in range(opening, len(tokens)):
        token = tokens[at]
        if token.kind is TokenKind.PUNCT and token.text in "{}":
            depth += 1 if token.text == "{" else -1
            if depth == 0:
                return at
    raise ValueError("the text is no query: a brace is not closed")
