"""Quads as text and back: a plain text is parsed without looks at its IRIs, and says the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, parse

from gateway.federation.n_quads import is_plain, read, written

XSD = "http://www.w3.org/2001/XMLSchema#"

_PIECES = st.sampled_from(
    [
        *("http://", "https://", "urn:", "mailto:", "a", "Z", "0", "é", "%", "%41", "/", "//", ":"),
        *(
            "?",
            "#",
            "@",
            "[",
            "]",
            "[::1]",
            "[1]",
            ":80",
            ":x",
            " ",
            "\\u0041",
            "\\",
            "^",
            "|",
            "{",
        ),
        *("`", '"', "\n", "\r", "\x00", "\t", "\x7f", "example.org", "-", ".", "~", "..", "&", "'"),
    ]
)
_TEXTS = st.lists(_PIECES, max_size=6).map("".join)
_IRIS = st.one_of(_TEXTS, st.builds("http://a.example/{}".format, _TEXTS)).map("<{}>".format)
_TYPES = st.sampled_from(
    [
        *("", f"^^<{XSD}double>", f"^^<{XSD}>", "@en", "@e n", "@toolonglanguage", "^^<urn:x>"),
        *("^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>", "--ltr"),
    ]
)
_LITERALS = st.builds('"{}"{}'.format, _TEXTS, _TYPES)
_OBJECTS = st.one_of(_IRIS, _LITERALS, st.just("_:b"))
_ENDS = st.sampled_from(
    [" .\n", " .", ".\n", " <urn:g> .\n", " _:g .\n", " <%> .\n", "\n", " .\r\n"]
)
_LINES = st.builds("{} {} {}{}".format, _IRIS, _IRIS, _OBJECTS, _ENDS)


def strictly(text: bytes) -> list[Quad]:
    return list(parse(text, format=RdfFormat.N_QUADS))


@given(st.lists(_LINES, max_size=3).map("".join))
def test_no_text_is_read_otherwise_than_strictly(text: str) -> None:
    payload = text.encode()
    try:
        expected = strictly(payload)
    except (SyntaxError, ValueError):
        with pytest.raises((SyntaxError, ValueError)):
            read(payload)
        assert not is_plain(payload)
        return
    quads, has_nodes, has_types = read(payload)
    assert list(quads) == expected
    assert has_nodes or is_plain(payload) or b"_:" not in payload
    assert has_types == (b"^^" in payload)


@given(_IRIS, _OBJECTS)
def test_no_line_is_plain_that_a_strict_parser_refuses(iri: str, end: str) -> None:
    payload = f"{iri} <urn:p> {end} .\n".encode()
    if is_plain(payload):
        assert len(strictly(payload)) == 1
        assert b"_:" not in payload or "_:" in iri + end.replace("_:b", "")


@pytest.mark.parametrize(
    "text",
    [
        b"<urn:a> <urn:b> <not an iri> .\n",
        b"<urn:a> <urn:b> <http://a.example:port/> .\n",
        b"<urn:a> <urn:b> <http://[1]/> .\n",
        b"<relative> <urn:b> <urn:c> .\n",
        b"<urn:a> <urn:b> <urn:c%zz> .\n",
        b'<urn:a> <urn:b> "x"@toolonglanguage .\n',
        b'<urn:a> <urn:b> "x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .\n',
        b"<urn:a> <urn:b> <urn:c> .\n\xff",
    ],
)
def test_what_is_no_quad_is_refused(text: bytes) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        read(text)


def test_quads_come_back_with_what_they_may_have() -> None:
    a, b = NamedNode("https://a.example:8080/x/1?y=2#z"), NamedNode("urn:b:1")
    plain = [Quad(a, b, a), Quad(a, b, Literal("it's 21.5 [C]")), Quad(b, b, a, b)]
    typed, node = Quad(a, b, Literal(21.5)), Quad(a, b, BlankNode("x"))
    triple = Quad(a, b, Triple(a, b, BlankNode("x")))
    assert read(written(plain)) == (plain, False, False)
    assert read(written([*plain, typed])) == ([*plain, typed], False, True)
    assert read(written([*plain, node])) == ([*plain, node], True, False)
    assert read(written([triple])) == ([triple], True, False)
    assert read(written([])) == ((), False, False)
    assert is_plain(written([*plain, typed]))
    assert not is_plain(written([*plain, node]))
