"""The lexer against the terminals of SPARQL 1.1, section 19."""

import pytest

from jsap.lexer import (
    LexError,
    Token,
    TokenKind,
    splice,
    string_value,
    substitute,
    tokenize,
    unescape_codepoints,
)

K = TokenKind


def texts(text: str) -> list[str]:
    return [token.text for token in tokenize(text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<http://a/#b>", K.IRIREF),
        ("<>", K.IRIREF),
        (r"<http://a/\u00e9>", K.IRIREF),
        ("a:b", K.PNAME),
        ("p:", K.PNAME),
        (":x", K.PNAME),
        (":", K.PNAME),
        (r"a.b:c%20d\-e:f.g", K.PNAME),
        ("é-1:2x", K.PNAME),
        ("_:b0", K.BNODE),
        ("_:0a.b-c", K.BNODE),
        ("?x", K.VAR),
        ("$1é_", K.VAR),
        ("'it \\' is'", K.STRING),
        ('"a\\tb"', K.STRING),
        ("''", K.STRING),
        ('""""quoted""o"""', K.STRING),
        ("'''two\nlines'' '''", K.STRING),
        ("@en-GB-x1", K.LANGTAG),
        ("42", K.INTEGER),
        ("1.50", K.DECIMAL),
        (".5", K.DECIMAL),
        ("1e5", K.DOUBLE),
        ("1.E-5", K.DOUBLE),
        (".5e+1", K.DOUBLE),
        ("GROUP_CONCAT", K.WORD),
        ("a", K.WORD),
        ("SHA256", K.WORD),
    ],
)
def test_token_alone(text: str, kind: TokenKind) -> None:
    assert tokenize(text) == [Token(kind, text, 0, len(text))]


MARKS = "{ } ( ) [ ] . ; , ^^ ^ / | || ? * + - ! = != < > <= >= && << >>"


@pytest.mark.parametrize("mark", MARKS.split(" "))
def test_punctuation_alone(mark: str) -> None:
    assert tokenize(f" {mark} ") == [Token(K.PUNCT, mark, 1, 1 + len(mark))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?x-1", ["?x", "-", "1"]),
        ("1.", ["1", "."]),
        ("1.5.?s", ["1.5", ".", "?s"]),
        ("a:b.", ["a:b", "."]),
        ("_:b.", ["_:b", "."]),
        ("<a>?/<b>", ["<a>", "?", "/", "<b>"]),
        ("?a<?b", ["?a", "<", "?b"]),
        ("?a<<http://x>", ["?a", "<", "<http://x>"]),
        ("<<<a> b:c 1>>", ["<<", "<a>", "b:c", "1", ">>"]),
        ("?a<=?b||!?c", ["?a", "<=", "?b", "||", "!", "?c"]),
        ("'1'^^a:b", ["'1'", "^^", "a:b"]),
        ("'x'@en.", ["'x'", "@en", "."]),
        ("?o?oo", ["?o", "?oo"]),
        ("()", ["(", ")"]),
        ("?s a:b ?o # '?c\n.", ["?s", "a:b", "?o", "."]),
        ("# only a comment", []),
        ("", []),
        ("'#' <u:#x> #y", ["'#'", "<u:#x>"]),
    ],
)
def test_tokens_side_by_side(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_offsets_point_into_the_text() -> None:
    text = " ?s\t<u:p>\n# x\n'o'@en . "
    assert [text[token.start : token.end] for token in tokenize(text)] == texts(text)


def test_codepoint_escape_in_a_string_ends_nothing() -> None:
    [token] = tokenize(r"'a\u0027b'")
    assert token.text == r"'a\u0027b'"
    assert string_value(token.text) == "a'b"


def test_codepoint_escape_outside_strings_is_decoded_and_offsets_are_kept() -> None:
    text = r"# \u000A" + "\n" + r"?\u0061b \U00000061:\u0063 '\u0061' "
    tokens = tokenize(text)
    assert [token.text for token in tokens] == ["?ab", "a:c", r"'\u0061'"]
    assert [text[token.start : token.end] for token in tokens] == [
        r"?\u0061b",
        r"\U00000061:\u0063",
        r"'\u0061'",
    ]


@pytest.mark.parametrize(
    ("text", "offset", "line", "column"),
    [
        ("?s ?p 'abc", 6, 1, 7),
        ('?s\n  "a\\q"', 5, 2, 3),
        ("'two\nlines'", 0, 1, 1),
        ("?a & ?b", 3, 1, 4),
        ("$", 0, 1, 1),
        ("_:", 0, 1, 1),
        (r"'\uD800'", 0, 1, 1),
        (r"?\u0061 '", 8, 1, 9),
        (r"'\U00110000'", 0, 1, 1),
        ("été", 0, 1, 1),
    ],
)
def test_no_token_names_the_place(text: str, offset: int, line: int, column: int) -> None:
    with pytest.raises(LexError) as caught:
        tokenize(text)
    assert (caught.value.offset, caught.value.line, caught.value.column) == (offset, line, column)


@pytest.mark.parametrize(
    ("token", "value"),
    [
        (r"'a\tb\n\r\b\f\\\"\''", "a\tb\n\r\b\f\\\"'"),
        ("'''it's'''", "it's"),
        ('""', ""),
        (r"'\\u0041'", r"\u0041"),
        (r"'\u00e9\U0001F600'", "é😀"),
    ],
)
def test_string_value(token: str, value: str) -> None:
    assert string_value(token) == value


def test_substitute_replaces_variables_only() -> None:
    text = "?o a:b '?o' , <u:?o> , ?oo , $o # ?o"
    assert substitute(text, tokenize(text), {"o": "1"}) == "1 a:b '?o' , <u:?o> , ?oo , 1 # ?o"


@pytest.mark.parametrize(
    ("text", "term", "expected"),
    [
        ("?o-1", '"a"@en', ['"a"', "@en", "-", "1"]),
        ("1<?o", "<u:x>", ["1", "<", "<u:x>"]),
        ("?o?o", "1", ["1", "1"]),
        ("?s?o", "1", ["?s", "1"]),
        ("{?o.}", "5", ["{", "5", ".", "}"]),
    ],
)
def test_substitute_between_neighbours_without_space(
    text: str, term: str, expected: list[str]
) -> None:
    assert texts(substitute(text, tokenize(text), {"o": term})) == expected


def test_splice_replaces_spans_in_order() -> None:
    assert splice("abc def", [(0, 1, "x"), (4, 7, "y")]) == "x bc y"


def test_unescape_codepoints_leaves_surrogates_alone() -> None:
    assert unescape_codepoints(r"\u0041\ud800\U00000042") == r"A\ud800B"


def test_tokenize_takes_time_linear_in_the_text() -> None:
    text = "{ " + "?s ?p '''x' y''' . # c\n" * 20_000 + " " * 100_000 + "'"
    with pytest.raises(LexError):
        tokenize(text)
