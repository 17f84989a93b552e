"""The regression cases of the engine: files that say what each UPDATE changes in each answer.

tests/data/engine_cases has one JSON file for each case: `data` in TriG, `subscriptions` with their
query and first answer, `steps` with an UPDATE and, for each subscription in turn, the rows added
and removed, or null for no notification. Terms are written as in SPARQL, any blank node as `_:`.
Each is played in both modes, and by the oracle, which says whether the case itself is right.
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
from gateway.engine.options import EngineOptions
from gateway.engine.workers import placement
from gateway.rdf.solutions import Solution
from gateway.store.quad_store import QuadStore
from tests.kit.worker_threads import ThreadLink
from tests.paths import DATA

_FOLDER = DATA / "engine_cases"
_CASES = sorted(_FOLDER.glob("*.json"))
_FAILURES_OF_OTHERS = {
    "default-graph update with default-graph query": ["default-graph"],
    "wrong rows with OPTIONAL": ["optional-appears-and-leaves", "optional-with-filter"],
    "rows that appear twice": ["one-change-one-row", "equal-rows-count", "union-of-the-same"],
    "GRAPH ?g in an update template": ["graph-variable-in-template", "unbound-graph-in-template"],
    "GRAPH inside OPTIONAL or UNION": ["graph-inside-optional", "graph-inside-union"],
    "same text, different graphs": ["same-text-different-graphs", "from-clauses"],
    "ASK": ["ask"],
    "MINUS of two matches, one of which leaves": ["minus-of-two-matches", "absence"],
    "a match that the FILTER of OPTIONAL refuses takes the row away": [
        "optional-refused-by-filter"
    ],
    "MIN beside MAX loses the one that stays": ["min-beside-max"],
    "EXISTS and NOT EXISTS refused": ["absence"],
    "EXISTS inside an expression refused": ["exists-in-an-expression"],
    "p* and p+ refused": ["path", "path-of-any-length"],
    "alternatives and zero-length paths as in another version": ["path-as-the-store-takes-it"],
    "a no-op tells a minus and a plus": ["net-change", "removal-of-what-is-not-there"],
    "states between the triples of one update are told": ["nothing-in-between"],
    "a row that disappears is not told": ["optional-appears-and-leaves", "absence", "counting"],
    "a second copy of a row is not told": ["second-copy-of-a-row", "equal-rows-count"],
}
"""What other engines have been seen to get wrong or to refuse, and the cases that guard ours."""

Row = frozenset[tuple[str, str]]
Change = tuple[Counter[Row], Counter[Row]] | None


@pytest.fixture(autouse=True)
def _workers_have_joins_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "_CHEAP", frozenset())


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
    assert len(_CASES) >= 34


def test_what_others_fail_at_has_a_case_here() -> None:
    named = {name for names in _FAILURES_OF_OTHERS.values() for name in names}
    assert named <= {path.stem for path in _CASES}


def _parameter(path: Path) -> ParameterSet:
    reason = json.loads(path.read_text(encoding="utf-8")).get("xfail")
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(path, id=path.stem, marks=marks)


def _engine(mode: str, data: str, told: list[Notification]) -> Engine:
    store = Store()
    store.load(data, RdfFormat.TRIG)
    return Engine(
        QuadStore(store),
        workers=1 if mode == "parallel" else 0,
        options=EngineOptions(oracle=mode == "oracle", launch=ThreadLink),
        on_notification=told.append,
    )


@pytest.mark.parametrize("mode", ["sequential", "parallel", "oracle"])
@pytest.mark.parametrize("path", [_parameter(path) for path in _CASES])
def test_each_update_changes_what_the_case_says(path: Path, mode: str) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    told: list[Notification] = []
    engine = _engine(mode, case["data"], told)
    spuids = [_subscribe(engine, subscription) for subscription in case["subscriptions"]]
    for step in case["steps"]:
        engine.update(step["update"])
        engine.drain()
        heard = {each.spuid: each for each in told}
        assert len(heard) == len(told)
        seen = [_seen(heard.get(spuid)) for spuid in spuids]
        assert seen == [_expected(change) for change in step["expected"]], step["update"]
        told.clear()
    engine.close()
