"""Queries of RFC 9535: whatever is written and whatever is looked at, an answer comes, soon."""

import random
from time import process_time

import pytest

from adapters.documents.json_query import MAX_VALUES, Condition, Query, plain
from adapters.documents.selection import compile_path
from adapters.values.fault import Fault
from adapters.values.payload import Json
from adapters.values.result import JsonNumber

PIECES = (
    *("$", "@", "..", ".*", "[*]", "[?", "]", "(", ")", "[", ".a", "['a']", "[0]", "[-1]", "[1:]"),
    *("==", "!=", "<", ">=", "&&", "||", "!", "'x'", '"y"', "1", "-2.5e3", "true", "null", ","),
    *("length(", "count(", "match(", "search(", "value(", "env(", " ", "\\", "'", "é", "\x00"),
    *("=~ /x/", "|", "#", "~", "^", "_", "in", "contains"),
)
DOCUMENT: Json = {
    "a": [{"a": JsonNumber("1.50"), "b": "x"}, {"a": JsonNumber("-2"), "b": None}, "y", True],
    "b": {"a": {"a": [JsonNumber("9")]}},
}


@pytest.mark.property
def test_any_text_is_a_path_or_refused_and_any_path_finds() -> None:
    dice = random.Random(9535)
    compared, good = plain(DOCUMENT), 0
    for _ in range(20_000):
        text = "".join(dice.choices(PIECES, k=dice.randrange(1, 9)))
        for compile_text in (lambda each: compile_path(f"${each}"), Condition.compile):
            try:
                compiled = compile_text(text)
            except ValueError:
                continue
            good += 1
            if isinstance(compiled, Query):
                found = compiled.find_all(DOCUMENT, compared)
                assert isinstance(found, list)
            elif isinstance(compiled, Condition):
                assert not isinstance(compared, Fault)
                assert compiled.holds(compared) in {True, False}
    assert good > 200


@pytest.mark.parametrize(
    "path",
    [
        "$..*",
        "$[?" + " || ".join(f"@ == {number}" for number in range(40)) + "]",
        "$..[?search(@, '(a+)+$')]",
        "$" + "[*]" * 30,
        "$[?@ == $[0]]",
    ],
)
def test_the_largest_document_takes_no_more_than_a_blink(path: str) -> None:
    query = Query.compile(path)
    words: list[Json] = ["a" * 40 + "b"] * 900
    numbers: list[Json] = [JsonNumber(str(each)) for each in range(3000)]
    documents: list[Json] = [[*words, *numbers], [[[words], numbers]]]
    for document in documents:
        before = process_time()
        assert isinstance(query.find_all(document, plain(document)), list)
        assert process_time() - before < 2


def test_document_that_is_too_large_is_a_fault_and_not_counted_to_its_end() -> None:
    found = plain([JsonNumber("1")] * MAX_VALUES)
    assert isinstance(found, Fault)
    assert isinstance(plain([JsonNumber("1")] * (MAX_VALUES - 1)), list)


def test_numbers_are_compared_as_numbers_and_kept_as_they_were_written() -> None:
    query = Query.compile("$.a[?@.a > 1.49].a")
    assert query.find_all(DOCUMENT, plain(DOCUMENT)) == [("0", "1.50")]
    huge: Json = {"a": JsonNumber("9" * 400), "b": JsonNumber("1e999")}
    assert Condition.compile("@.a > 1 && @.b > 1").holds(plain(huge))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("$.a[0:2].a", ["0", "1"]),
        ("$.b..a", ["a", "a.a"]),
        ("$['a','b']", ["a", "b"]),
        ("$.a[?@.b == 'x'].a", ["0"]),
    ],
)
def test_what_is_found_is_called_by_what_is_no_name(path: str, names: list[str]) -> None:
    found = Query.compile(path).find_all(DOCUMENT, plain(DOCUMENT))
    assert isinstance(found, list)
    assert [name for name, _ in found] == names
