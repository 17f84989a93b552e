"""`with_constants`: which FILTERs are repeated as VALUES, and that the answer stays the same."""

import pytest
from pyoxigraph import QuerySolutions, Store

from gateway.sparql.constants import with_constants

_DATA = (
    "INSERT DATA { <urn:a> <urn:p> <urn:b> . <urn:c> <urn:p> <urn:b> . <urn:b> <urn:q> <urn:c> }"
)


def _answer(store: Store, text: str) -> list[str]:
    results = store.query(text)
    assert isinstance(results, QuerySolutions)
    return sorted(str(row) for row in results)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("SELECT ?o { ?s <urn:p>+ ?o FILTER(?s = <urn:a>) }", 1),
        ("SELECT * { FILTER(<urn:b> = ?o) ?s <urn:p> ?o . FILTER(?s = <urn:c>) } LIMIT 1", 2),
        ("SELECT * { ?s <urn:p> ?o OPTIONAL { ?o <urn:q> ?z } FILTER(?o = <urn:b>) # }\n }", 1),
        ("SELECT * { ?s <urn:p> ?o OPTIONAL { ?o <urn:q> ?z } FILTER(?z = <urn:c>) }", 0),
        ("SELECT * { ?s <urn:p> ?o . FILTER(?s = ?o || ?s = <urn:a>) }", 0),
        ("SELECT * { ?s <urn:p> ?o . { FILTER(?s = <urn:a>) } }", 0),
        ("SELECT * { ?s <urn:p> ?o . FILTER(?o = 1) }", 0),
        ("BASE <urn:> SELECT * { ?s <urn:p> ?o FILTER(?s = <a>) }", 1),
        ("SELECT ?s { ?s <urn:\\u0070> ?o FILTER(?s = <urn:a>) }", 0),
    ],
)
def test_filter_on_a_certain_variable_is_repeated(text: str, values: int) -> None:
    store = Store()
    store.update(_DATA)
    changed = with_constants(text)
    assert changed.count("VALUES") == values
    assert _answer(store, changed) == _answer(store, text)
