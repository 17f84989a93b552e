"""Relative IRIs: the examples of RFC 3986, and the store's own verdict."""

from itertools import product

import pytest
from pyoxigraph import QuerySolutions, Store

from gateway.sparql.iris import is_absolute, resolve

RFC_3986_NORMAL = {
    "g": "http://a/b/c/g",
    "./g": "http://a/b/c/g",
    "g/": "http://a/b/c/g/",
    "/g": "http://a/g",
    "//g": "http://g",
    "?y": "http://a/b/c/d;p?y",
    "g?y": "http://a/b/c/g?y",
    "#s": "http://a/b/c/d;p?q#s",
    "g#s": "http://a/b/c/g#s",
    ";x": "http://a/b/c/;x",
    "": "http://a/b/c/d;p?q",
    ".": "http://a/b/c/",
    "..": "http://a/b/",
    "../g": "http://a/b/g",
    "../..": "http://a/",
    "../../../g": "http://a/g",
    "/../g": "http://a/g",
    "g.": "http://a/b/c/g.",
    "..g": "http://a/b/c/..g",
    "./g/.": "http://a/b/c/g/",
    "g;x=1/../y": "http://a/b/c/y",
    "g?y/../x": "http://a/b/c/g?y/../x",
    "urn:g": "urn:g",
}
BASES = ("http://a/b/c/d;p?q", "http://h", "http://h?q", "mqtt://h/a/", "file:///a/b")


@pytest.mark.parametrize(("reference", "target"), RFC_3986_NORMAL.items())
def test_reference_of_rfc_3986(reference: str, target: str) -> None:
    assert resolve("http://a/b/c/d;p?q", reference) == target


@pytest.mark.parametrize(
    ("base", "reference"),
    [
        *product(BASES, [*RFC_3986_NORMAL, "http://x/a/../b", "//x/./y"]),
        ("urn:x:y", "g"),
        ("urn:x:y", "#g"),
        ("http://h/a/../b/c", "../g"),
    ],
)
def test_target_is_character_for_character_the_stores(base: str, reference: str) -> None:
    answer = Store().query(f"BASE <{base}> SELECT (STR(<{reference}>) AS ?x) {{}}")
    assert isinstance(answer, QuerySolutions)
    (row,) = answer
    assert resolve(base, reference) == row["x"].value


def test_absolute_is_what_has_a_scheme() -> None:
    assert is_absolute("urn:a")
    assert is_absolute("x-y.z+1:")
    assert not any(map(is_absolute, ("", "a", "/a:b", "?a:b", "#a:b", "1a:b")))
