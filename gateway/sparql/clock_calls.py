"""Texts that read the engine's clock: by `NOW()`, or by the function `gw:clock()`.

Place: the store replaces NOW() before it evaluates a text, since its own has another value in each
query; the engine evaluates a subscription that reads the clock after every UPDATE. Most texts are
cleared by a look at their characters alone.
"""

from itertools import pairwise

from gateway.runtime.text_cache import remembered
from gateway.sparql.parser import parse_query
from gateway.sparql.patterns import reads_clock
from jsap.lexer import LexError, TokenKind, splice, tokenize

_HINTS = ("now", "\\", "sosa-gateway")
"""A text that calls the clock has one of these: its name, an escape, the host of its IRI."""


def calls_clock(query_text: str) -> bool:
    """Whether a query reads the clock. Raises SparqlSyntaxError."""
    lowered = query_text.lower()
    return any(hint in lowered for hint in _HINTS) and _calls_clock(query_text)


@remembered()
def _calls_clock(query_text: str) -> bool:
    return reads_clock(parse_query(query_text))


def replace_now(text: str, function: str) -> str:
    """The text with each NOW() made a call of a function, written as in SPARQL.

    Nothing changes in strings, comments, IRIs and names.

    >>> replace_now("ASK { FILTER(NOW() > 1) }", "<urn:f>")
    'ASK { FILTER( <urn:f> () > 1) }'
    """
    lowered = text.lower()
    return _replaced(text, function) if "now" in lowered or "\\u" in lowered else text


@remembered()
def _replaced(text: str, function: str) -> str:
    try:
        tokens = tokenize(text)
    except LexError:  # the store says what is wrong with it
        return text
    calls = (
        token
        for token, following in pairwise(tokens)
        if token.kind is TokenKind.WORD and token.text.upper() == "NOW" and following.text == "("
    )
    return splice(text, ((call.start, call.end, function) for call in calls))
