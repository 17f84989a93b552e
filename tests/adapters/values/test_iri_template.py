"""IRI templates: what is filled in can neither end an IRI nor add a part to it."""

import pytest
from pyoxigraph import NamedNode

from adapters.values.iri_template import IriTemplate, fill_name, percent_encoded


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("lab-1_a.b~c", "lab-1_a.b~c"),
        ("a/b", "a%2Fb"),
        ("a?b#c", "a%3Fb%23c"),
        ("a:b@c", "a%3Ab%40c"),
        ("100%", "100%25"),
        ("%2F", "%252F"),
        ('<>"{}|\\^`', "%3C%3E%22%7B%7D%7C%5C%5E%60"),
        ("{1}{name}", "%7B1%7D%7Bname%7D"),
        ("a b\n\0", "a%20b%0A%00"),
        ("größe中", "größe中"),
        ("\u202eevil", "%E2%80%AEevil"),
        ("\ue000", "%EE%80%80"),
        (".", "%2E"),
        ("..", "%2E%2E"),
        ("...", "..."),
        ("", ""),
    ],
)
def test_text_is_one_piece_of_an_iri(text: str, encoded: str) -> None:
    assert percent_encoded(text) == encoded
    assert NamedNode("http://h/" + percent_encoded(text)).value == "http://h/" + encoded


def test_lone_surrogate_is_encoded_and_no_exception() -> None:
    assert percent_encoded("\ud800") == "%ED%A0%80"


@pytest.mark.parametrize(
    ("template", "captures", "iri"),
    [
        ("urn:x", [], "urn:x"),
        ("urn:x:{1}", ["a"], "urn:x:a"),
        ("http://h/{2}/{1}/{2}#it", ["a", "b/c"], "http://h/b%2Fc/a/b%2Fc#it"),
        ("http://h/{1}", ["{name}"], "http://h/%7Bname%7D"),
        ("http://größe/{1}", [".."], "http://größe/%2E%2E"),
    ],
)
def test_captures_fill_their_places(template: str, captures: list[str], iri: str) -> None:
    compiled = IriTemplate.compile(template, wildcards=len(captures), names=False)
    assert compiled.fill(captures) == iri
    assert NamedNode(iri).value == iri


def test_name_is_filled_in_last_and_only_where_the_template_has_it() -> None:
    filled = IriTemplate.compile("urn:{name}:{1}:{name}", 1, names=True).fill(["{name}"])
    assert fill_name(filled, "a:b") == "urn:a%3Ab:%7Bname%7D:a%3Ab"
    assert fill_name("urn:x", "a") == "urn:x"


@pytest.mark.parametrize(
    "template",
    [
        "",
        "relative/{1}",
        "{1}:x",
        "{1}",
        "urn:{0}",
        "urn:{3}",
        "urn:{01}",
        "urn:{level}",
        "urn:{name}",
        "urn:{1",
        "urn:1}",
        "urn:a b",
        "urn:<x>",
        "urn:%zz",
        "urn:\ud800",
        "1urn:x",
    ],
)
def test_template_that_gives_no_iri_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        IriTemplate.compile(template, wildcards=2, names=False)
