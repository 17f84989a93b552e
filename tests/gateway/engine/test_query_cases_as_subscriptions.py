"""The W3C evaluation cases of SPARQL 1.0 and 1.1 Query, each as a subscription, in both modes.

The query is subscribed on an empty store; the data of the case arrives in random pieces, some of it
leaves and comes back. After every UPDATE the rows told so far are what the query answers now; at
the end they are what the suite expects. The run ends with a report (tests/gateway/engine/report).
"""

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from gateway.engine.workers import placement
from gateway.errors import GatewayError, SparqlSyntaxError, UnsupportedQueryError
from tests.gateway.engine.query_cases import CASES, REQUIRED, SUITES, Case, as_dataset, expected
from tests.gateway.engine.report import DEVIATES, FAILED, NOT_APPLICABLE, PASSED, Report, Verdict
from tests.gateway.engine.subscriber import Home

pytestmark = pytest.mark.conformance

_FRESH = "its answer is another one each time"
_TEMPLATE = "blank nodes of a CONSTRUCT template are fresh each time"
_REFUSED: dict[str, tuple[type[GatewayError], str]] = {
    "sparql10/construct#construct-3": (UnsupportedQueryError, _TEMPLATE),
    "sparql10/construct#construct-4": (UnsupportedQueryError, _TEMPLATE),
    "sparql11/construct#constructlist": (UnsupportedQueryError, _TEMPLATE),
    "sparql11/functions#bnode01": (UnsupportedQueryError, _FRESH),
    "sparql11/functions#bnode02": (UnsupportedQueryError, _FRESH),
    "sparql11/functions#rand01": (UnsupportedQueryError, _FRESH),
    "sparql11/functions#struuid01": (UnsupportedQueryError, _FRESH),
    "sparql11/functions#uuid01": (UnsupportedQueryError, _FRESH),
    "sparql11/functions#uuid02": (UnsupportedQueryError, _FRESH),
    "sparql10/expr-builtin#case-insensitive-booleans": (
        SparqlSyntaxError,
        "the store wants `true` in lower case",
    ),
}
"""Cases whose query is refused in a subscription, with the reason."""

_VALUES = "the store keeps a number as a value: 01 and +1 are 1"
_GRAPH_SCOPE = "the store binds the variable of GRAPH within the group, or not at all"
_REDUCED = "REDUCED may leave out equal rows or not: both are right"
_STORE_DEVIATES = {
    "sparql10/distinct#distinct-1": _VALUES,
    "sparql10/distinct#distinct-9": _VALUES,
    "sparql10/expr-builtin#dawg-str-1": _VALUES,
    "sparql10/expr-builtin#dawg-str-2": _VALUES,
    "sparql10/expr-builtin#sameTerm-eq": _VALUES,
    "sparql10/expr-builtin#sameTerm-not-eq": _VALUES,
    "sparql10/expr-builtin#sameTerm-simple": _VALUES,
    "sparql10/expr-equals#eq-graph-1": _VALUES,
    "sparql10/expr-equals#eq-graph-2": _VALUES,
    "sparql10/graph#graph-optional": _GRAPH_SCOPE,
    "sparql10/graph#graph-variable-scope": _GRAPH_SCOPE,
    "sparql11/bindings#graph": _GRAPH_SCOPE,
    "sparql10/reduced#reduced-1": _REDUCED,
    "sparql10/reduced#reduced-2": _REDUCED,
}
"""Cases that pyoxigraph 0.5.13 answers otherwise than the suite expects, with the reason."""

_SEQUENTIAL, _PARALLEL = "sequential", "parallel"
_NAMES = {case.name: case for case in CASES}

needs_suites = pytest.mark.skipif(not CASES, reason=f"no W3C test suites in {SUITES}")


@pytest.fixture(scope="module")
def homes() -> Iterator[dict[str, Home]]:
    """An engine for each mode; in the parallel one the worker has joins and patterns too."""
    with patch.object(placement, "_CHEAP", frozenset()):
        found = {_SEQUENTIAL: Home(workers=0), _PARALLEL: Home(workers=1)}
        yield found
        for home in found.values():
            home.engine.close()


def _verdict(case: Case) -> Verdict:
    if case.name in _REFUSED:
        return Verdict(NOT_APPLICABLE, _REFUSED[case.name][1])
    if case.name in _STORE_DEVIATES:
        return Verdict(DEVIATES, _STORE_DEVIATES[case.name])
    return Verdict(PASSED)


def test_suites_are_there_where_they_are_required() -> None:
    assert CASES or not REQUIRED


@needs_suites
def test_query_cases_are_all_there() -> None:
    assert len(_NAMES) == len(CASES) >= 380
    assert _NAMES.keys() >= {*_REFUSED, *_STORE_DEVIATES}


@needs_suites
@pytest.mark.parametrize("mode", [_SEQUENTIAL, _PARALLEL])
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.name not in _REFUSED],
    ids=lambda case: case.name,
)
def test_rows_told_are_the_answer_and_at_the_end_what_the_suite_expects(
    case: Case, mode: str, homes: dict[str, Home], report: Report
) -> None:
    with (
        report.judging(mode, case.name, _verdict(case)),
        homes[mode].subscriber(case.text) as subscriber,
    ):
        subscriber.play(case)
        agrees = as_dataset(subscriber.rows()) == as_dataset(expected(case.result))
        assert agrees == (case.name not in _STORE_DEVIATES)


@needs_suites
@pytest.mark.parametrize("mode", [_SEQUENTIAL, _PARALLEL])
@pytest.mark.parametrize("name", _REFUSED)
def test_query_that_cannot_be_subscribed_is_refused_and_leaves_nothing_behind(
    name: str, mode: str, homes: dict[str, Home], report: Report
) -> None:
    engine = homes[mode].engine
    with report.judging(mode, name, _verdict(_NAMES[name])):
        matched = engine.statistics.lutt_hits + engine.statistics.lutt_misses
        with pytest.raises(_REFUSED[name][0]):
            engine.subscribe(_NAMES[name].text)
        assert engine.statistics.subscriptions == 0
        engine.update("INSERT DATA { <urn:s> <urn:p> 1 }")
        engine.update("DROP ALL")
        assert engine.statistics.lutt_hits + engine.statistics.lutt_misses == matched


@needs_suites
def test_report_has_no_failure_and_a_reason_for_all_that_is_not_passed(report: Report) -> None:
    """Only the cases that were run: `-k` may have left some out."""
    for (_, name), verdict in report.verdicts.items():
        assert verdict.kind != FAILED, name
        assert verdict == _verdict(_NAMES[name])
        assert verdict.reason or verdict.kind == PASSED


@needs_suites
def test_workers_have_told_much_of_the_parallel_mode(
    homes: dict[str, Home], report: Report
) -> None:
    """Most SPUs of the cases may live in a worker: without one the mode would not be tested."""
    played = report.counted(_PARALLEL)[Verdict(PASSED)]
    assert homes[_PARALLEL].engine.delivery.late >= 2 * played, played
