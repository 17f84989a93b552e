"""The regression cases of the engine: files that say what each UPDATE changes in each answer.

tests/data/engine_cases has one JSON file for each case: `data` in TriG, `subscriptions` with their
query and first answer, `steps` with an UPDATE and, for each subscription in turn, the rows added
and removed, or null for no notification. Terms are written as in SPARQL, any blank node as `_:`.
`xfail` says of a defect that is known and not yet mended who is to mend it.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet
from pyoxigraph import BlankNode, NamedNode, QuerySolutions, RdfFormat, Store

from gateway.engine import Engine, Notification
from gateway.rdf.solutions import Solution
from gateway.store.quad_store import QuadStore

_FOLDER = Path(__file__).parents[1] / "data" / "engine_cases"
_CASES = sorted(_FOLDER.glob("*.json"))

Row = frozenset[tuple[str, str]]
Change = tuple[Counter[Row], Counter[Row]] | None


def _term(text: str) -> str:
    if text == "_:":
        return text
    results = Store().query(f"SELECT ({text} AS ?term) {{}}")
    assert isinstance(results, QuerySolutions)
    return str(next(results)["term"])


def _written(rows: Sequence[Mapping[str, str]]) -> Counter[Row]:
    return Counter(frozenset((name, _term(text)) for name, text in row.items()) for row in rows)


def _told(rows: Sequence[Solution]) -> Counter[Row]:
    return Counter(
        frozenset(
            (name, "_:" if isinstance(term, BlankNode) else str(term)) for name, term in row.items()
        )
        for row in rows
    )


def _expected(change: Mapping[str, Any] | None) -> Change:
    return None if change is None else (_written(change["added"]), _written(change["removed"]))


def _seen(notification: Notification | None) -> Change:
    if notification is None:
        return None
    return _told(notification.added), _told(notification.removed)


def _subscribe(engine: Engine, subscription: Mapping[str, Any]) -> str:
    default, named = (
        [NamedNode(iri) for iri in subscription.get(key, ())]
        for key in ("default_graphs", "named_graphs")
    )
    first = engine.subscribe(subscription["query"], default_graphs=default, named_graphs=named)
    assert _seen(first) == (_written(subscription["first"]), Counter())
    return first.spuid


def test_there_are_cases() -> None:
    assert len(_CASES) >= 20


def _parameter(path: Path) -> ParameterSet:
    reason = json.loads(path.read_text(encoding="utf-8")).get("xfail")
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(path, id=path.stem, marks=marks)


@pytest.mark.parametrize("path", [_parameter(path) for path in _CASES])
def test_each_update_changes_what_the_case_says(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    store = Store()
    store.load(case["data"], RdfFormat.TRIG)
    engine = Engine(QuadStore(store))
    spuids = [_subscribe(engine, subscription) for subscription in case["subscriptions"]]
    for step in case["steps"]:
        told = {each.spuid: each for each in engine.update(step["update"]).notifications}
        seen = [_seen(told.get(spuid)) for spuid in spuids]
        assert seen == [_expected(change) for change in step["expected"]], step["update"]
