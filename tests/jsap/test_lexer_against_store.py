"""The lexer against the store's own parser, and what substitution must never do."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, QuerySolutions, Store

from jsap.lexer import LexError, Token, TokenKind, splice, string_value, substitute, tokenize

pytestmark = pytest.mark.property

SAMPLES = (
    r"""?s ?o ?oo $s a:b : p: a.b:c%20\-d <u:x> <?o> <u:\u00e9> _:b _:b.c 'x' "?o" '''it's''' """
    r"""'a\u0027b' "" @en @en-GB 1 1.5 .5 1e5 1.E-1 SELECT a true STRLANG { } ( ) [ ] . ; , ^^ ^"""
    r""" / | || ? * + - ! = != < > <= >= && << >> ?\u0061x \u0061:b"""
)
TOKENS = st.sampled_from(SAMPLES.split(" "))
GAPS = st.sampled_from(["", " ", "\n", "\t", "# ?o '<\n", " # \\u0027\r"])
TEXTS = st.lists(st.tuples(GAPS, TOKENS), max_size=12).map(
    lambda pairs: "".join(gap + token for gap, token in pairs)
)
TERMS = st.one_of(
    st.text().map(lambda text: str(Literal(text))),
    st.text().map(lambda text: str(Literal(text, language="en"))),
    st.sampled_from(["u:x", "http://a/?o#"]).map(lambda i: str(NamedNode(i))),
    st.integers().map(lambda number: str(Literal(number))),
)


def kinds_and_texts(text: str) -> list[tuple[TokenKind, str]]:
    return [(token.kind, token.text) for token in tokenize(text)]


@given(st.text(alphabet="?$<>'\"\\u0027{}()[].;,^|&!=*+-/@#:_ab1e \n\réD8"))
@example("'''a''''")
@example("?a<<u:x>>")
def test_any_text_has_ordered_tokens_or_an_error_in_its_bounds(text: str) -> None:
    try:
        tokens = tokenize(text)
    except LexError as error:
        place = error
    else:
        check_order(tokens, len(text))
        return
    assert 0 <= place.offset < len(text)
    assert place.line == text[: place.offset].count("\n") + 1


def check_order(tokens: list[Token], length: int) -> None:
    ends = [0, *(token.end for token in tokens)]
    for token, end in zip(tokens, ends, strict=False):
        assert end <= token.start < token.end <= length


@given(st.lists(TOKENS, max_size=12))
def test_tokens_apart_are_tokens_alone(texts: list[str]) -> None:
    apart = kinds_and_texts(" ".join(texts))
    assert apart == [pair for text in texts for pair in kinds_and_texts(text)]


@given(TEXTS, TERMS)
def test_substitution_changes_variable_tokens_only(text: str, term: str) -> None:
    try:
        tokens = tokenize(text)
    except LexError:
        return
    expected: list[tuple[TokenKind, str]] = []
    for token in tokens:
        is_bound = token.kind is TokenKind.VAR and token.text[1:] == "o"
        expected += kinds_and_texts(term) if is_bound else [(token.kind, token.text)]
    assert kinds_and_texts(substitute(text, tokens, {"o": term})) == expected


@given(TEXTS)
def test_splice_of_each_token_by_itself_changes_nothing(text: str) -> None:
    try:
        tokens = tokenize(text)
    except LexError:
        return
    spliced = splice(text, ((each.start, each.end, each.text) for each in tokens))
    assert kinds_and_texts(spliced) == [(each.kind, each.text) for each in tokens]


@given(st.text())
@example("\x00\x1f\x7f\u2028'\"\\\U0010ffff")
def test_literal_of_the_store_is_one_string_of_that_value(value: str) -> None:
    [token] = tokenize(str(Literal(value)))
    assert token.kind is TokenKind.STRING
    assert string_value(token.text) == value


QUOTES = st.sampled_from(["'", '"', "'''", '"""'])
ESCAPES = r"\n \" \' \\ \u0022 \u0027 \u005C \U0001F600 \q \u12 \uD800 \U00110000"
PIECES = st.sampled_from([*"ab'\"\\\n\r?#", *ESCAPES.split(" ")])


def value_by_store(text: str) -> str | None:
    try:
        solutions = Store().query(f"SELECT ({text} AS ?x) {{}}")
    except (SyntaxError, ValueError):
        return None
    assert isinstance(solutions, QuerySolutions)
    term = next(solutions)["x"]
    return term.value if isinstance(term, Literal) else None


@given(QUOTES, st.lists(PIECES, max_size=6).map("".join))
@example("'''", "'a''")
@example('"', r"\u0022")
@example("'", r"\u005C\q")
@example("'", "'#")
def test_string_is_read_as_the_store_reads_it(quote: str, inner: str) -> None:
    text = quote + inner + quote
    try:
        tokens = tokenize(text)
    except LexError:
        assert value_by_store(text) is None
        return
    if [each.text for each in tokens] == [text] and tokens[0].kind is TokenKind.STRING:
        assert string_value(text) == value_by_store(text)


@pytest.mark.parametrize("text", ["?o?o?o", "'?o'@en,?o", "<?o>?o"])
def test_substitution_twice_is_substitution_once(text: str) -> None:
    once = substitute(text, tokenize(text), {"o": "<u:x>"})
    assert substitute(once, tokenize(once), {"o": "<u:y>"}) == once
