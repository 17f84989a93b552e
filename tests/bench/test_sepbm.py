"""SEP-BM's runner, adapters, analysis and report, on one department."""

import re
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any

import pytest

from bench.sepbm.adapters.adapter import Adapter, Tell
from bench.sepbm.adapters.graph_ss import GraphSS
from bench.sepbm.adapters.guessing import Guessing
from bench.sepbm.adapters.naive import Naive
from bench.sepbm.adapters.string_rs import StringRS
from bench.sepbm.analysis import COMPONENTS, analysed, analysed_each
from bench.sepbm.html import page
from bench.sepbm.lubm import RDF_TYPE, Statement
from bench.sepbm.paper import of_paper
from bench.sepbm.queries import queries, reordered, requeried
from bench.sepbm.reference import reference_run
from bench.sepbm.runner import Run, Runner
from tests.bench.sepbm_data import NAMESPACE, small, small_reference

Row = Sequence[object]


class _Told(Adapter):
    """Says what the reference says, but for what a test changes."""

    def __init__(self, change: Callable[[str, list[Row]], list[Row]]) -> None:
        self._change = change
        self._tells: dict[str, Tell] = {}

    def load(self, base: Sequence[Statement]) -> None:
        self._base = base

    def create_channel(self, name: str, text: str) -> None:
        pass

    def delete_channel(self, name: str) -> None:
        pass

    def subscribe(self, name: str, tell: Tell) -> int:
        self._tells[name] = tell
        return 0

    def unsubscribe(self, name: str) -> None:
        del self._tells[name]

    def prepare(self, graph: Sequence[Statement], *, insert: bool) -> Any:
        return graph[0][0], insert

    def publish(self, request: Any) -> None:
        self._tell(request)

    def delete(self, request: Any) -> None:
        self._tell(request)

    def close(self) -> None:
        pass

    def _tell(self, request: tuple[str, bool]) -> None:
        subject, insert = request
        publications = small().publications
        index = next(n for n, each in enumerate(publications) if each.subject == subject)
        rows: dict[str, list[Row]] = {}
        for channel, row in small_reference()[index]:
            rows.setdefault(channel, []).append(row)
        for channel, found in rows.items():
            changed = self._change("+" if insert else "-", list(found))
            gained, lost = (changed, []) if insert else ([], changed)
            self._tells[channel](channel, gained, lost, perf_counter())


def _runs(adapter: Adapter, number: int | None = None, **options: Any) -> Run:
    adapter.load(small().base)
    return Runner(adapter, small(), small_reference(), **options).run(queries(NAMESPACE), number)


def test_naive_gets_every_row_and_every_row_goes() -> None:
    run = _runs(Naive(NAMESPACE, reordered(NAMESPACE)), 20)
    assert run.is_complete, run.problems
    assert len(run.publish_s) == 20
    assert len(run.rows) == run.expected == sum(map(len, small_reference()[:20])) > 50
    assert len(run.delete_cpu_s) == len({each.subject for each in small().publications[:20]})


@pytest.mark.parametrize(
    ("sign", "change", "problem"),
    [
        ("+", lambda rows: rows[1:], "missing: C"),
        ("-", lambda rows: rows[1:], "missing: C"),
        ("+", lambda rows: [*rows, ("<urn:wrong>",)], "unexpected: C"),
        ("-", lambda rows: [*rows, rows[0]], "unexpected: C"),
    ],
    ids=["row-missing", "row-stays", "row-too-many", "row-goes-twice"],
)
def test_a_run_with_other_rows_is_not_complete(
    sign: str, change: Callable[[list[Row]], list[Row]], problem: str
) -> None:
    run = _runs(_Told(lambda told, rows: change(rows) if told == sign else rows))
    assert not run.is_complete
    assert run.problems[0].startswith(problem)
    assert sign in run.problems[0]


def test_a_run_of_the_reference_s_own_rows_is_complete() -> None:
    # A resource that two channels drew brings in its second publication what it did in the first.
    run = _runs(_Told(lambda _, rows: rows))
    first = {each.subject: n for n, each in reversed(list(enumerate(small().publications)))}
    again = [small_reference()[first[each.subject]] for each in small().publications]
    assert run.is_complete == (again == list(small_reference()))


class _Silent(_Told):
    """Tells nothing, and has nothing more to come after a while."""

    waited = 0.0

    def publish(self, request: Any) -> None:
        del request

    def wait(self, seconds: float) -> bool:
        self.waited = seconds
        return False


def test_a_run_ends_after_the_time_limit() -> None:
    adapter = _Silent(lambda _, rows: rows)
    run = _runs(adapter, time_limit_s=0.5)
    assert not run.is_complete
    assert 0 < adapter.waited <= 0.5
    assert len(run.publish_s) == next(n for n, rows in enumerate(small_reference()) if rows) + 1


@pytest.mark.parametrize("made", [StringRS, GraphSS])
def test_heuristics_get_every_row_and_send_no_wrong_one(made: type[Guessing]) -> None:
    run = _runs(made(NAMESPACE), 20)
    assert run.is_complete, run.problems
    assert len(run.rows) == run.expected
    assert sum(each["hits"] for each in run.guessed.values()) > 0
    assert sum(each["wrong"] for each in run.guessed.values()) > 0
    members = analysed(run)
    assert members["publications"] == 20
    assert {each["id"] for each in members["channels"]} == set(queries())
    assert all(0 <= each["hit_rate"] <= 1 for each in members["channels"] if each["rows"])


@pytest.mark.parametrize("made", [StringRS, GraphSS])
def test_heuristics_guess_what_our_engine_asks_again(made: type[Guessing]) -> None:
    texts = requeried(NAMESPACE)
    reference = reference_run(small(), Naive(NAMESPACE), texts, 20)
    adapter = made(NAMESPACE)
    adapter.load(small().base)
    run = Runner(adapter, small(), reference).run(texts, 20)
    assert run.is_complete, run.problems
    assert run.guessed["C14L"]["hits"] > 0


UNI = f"<{NAMESPACE}"


def _student(number: int, department: int) -> list[Statement]:
    iri = f"<http://www.Department{department}.University{department}.edu/Student{number}>"
    return [
        (iri, RDF_TYPE, f"{UNI}UndergraduateStudent>"),
        (iri, f"{UNI}memberOf>", f"<http://www.Department{department}.University{department}.edu>"),
    ]


def _guesses(adapter: Guessing, university: Callable[[int], str]) -> list[bool]:
    """Whether the row (student, university) of each next student is guessed."""
    found = []
    for number in range(6):
        graph = _student(number, number)
        row = graph[0][0], university(number)
        found.append(row in list(adapter.candidates("C17", graph)))
        adapter.learn("C17", graph, row)
    return found


def test_string_rs_finds_a_university_in_the_department_s_name_and_graph_ss_does_not() -> None:
    def university(number: int) -> str:
        return f"<http://www.University{number}.edu>"

    assert _guesses(StringRS(NAMESPACE), university) == [False, *[True] * 5]
    assert _guesses(GraphSS(NAMESPACE), university) == [False] * 6


def test_graph_ss_finds_a_constant_that_nothing_has_contradicted() -> None:
    assert _guesses(GraphSS(NAMESPACE), lambda _: "<urn:u>") == [False, *[True] * 5]


def test_neither_guesses_across_kinds_of_publications() -> None:
    for adapter in (StringRS(NAMESPACE), GraphSS(NAMESPACE)):
        graph = _student(1, 1)
        adapter.learn("C06", graph, (graph[0][0],))
        other = [(graph[0][0], RDF_TYPE, f"{UNI}Course>")]
        assert list(adapter.candidates("C06", other)) == []


def _subscribed(adapter: Adapter, name: str, text: str, tell: Tell) -> int:
    adapter.create_channel(name, text)
    return adapter.subscribe(name, tell)


def test_a_guess_near_a_limit_is_left_to_the_full_evaluation() -> None:
    adapter = GraphSS(NAMESPACE)
    adapter.load(small().base)
    told: list[Row] = []

    def tell(channel: str, added: Iterable[Row], removed: Iterable[Row], at: float) -> None:
        del channel, removed, at
        told.extend(added)

    students = requeried(NAMESPACE)["C14L"]
    count = _subscribed(adapter, "all", students, tell)
    limited = re.sub(r"LIMIT \d+", f"LIMIT {count + 1}", students)
    _subscribed(adapter, "C14L", limited, tell)
    for number in range(4):
        adapter.publish(_student(number, number))
    assert adapter.guessed()["all"]["hits"] == 3
    assert adapter.guessed()["C14L"]["hits"] == 0
    assert len({row for row in told if "Student3" in str(row)}) == 1


def test_analysis_of_a_record() -> None:
    run = Run(["C01", "C02"], rows=[("C01", 1.0), ("C01", 3.0)], expected=2)
    run.publish_s, run.publish_cpu_s, run.delete_cpu_s = [0.1, 0.3], 0.01, [0.002]
    run.components_ms = {"update": 4.0, "lutt": 2.0}
    run.busy["C01"] = [2, 0.5]
    found = analysed(run)
    assert found["complete"]
    assert found["notification_ms"] == {"mean": 2.0, "p50": 1.0, "p99": 3.0}
    assert found["publications_per_s"] == pytest.approx(5)
    assert found["cpu_ms_per_publication"] == pytest.approx(5)
    assert found["delete_cpu_ms"] == pytest.approx(2)
    assert list(found["components_ms"]) == list(COMPONENTS)
    assert found["components_ms"]["update"] == 2
    assert found["components_ms"]["reason"] is None
    first, second = found["channels"]
    assert (first["rows"], first["publications_per_s"]) == (2, 4)
    assert (second["rows"], second["mean_ms"], second["hit_rate"]) == (0, None, None)


def test_analysis_of_channels_each_alone() -> None:
    runs = {
        name: Run([name], rows=[(name, ms)], publish_s=[0.1], expected=1)
        for name, ms in {"C01": 1.0, "C02": 3.0}.items()
    }
    found = analysed_each(runs)
    assert found["complete"]
    assert found["rows"] == 2
    assert found["notification_ms"]["mean"] == 2
    assert [each["publications_per_s"] for each in found["channels"]] == [10, 10]


def test_report_is_one_page_that_fetches_nothing_and_escapes_what_it_is_told() -> None:
    run = Run(["C01"], rows=[("C01", 1.5)], publish_s=[0.1], expected=1)
    run.busy["C01"] = [1, 0.1]
    members = {
        "universities": 1,
        "channels_mode": "all",
        "configuration_sha256": "0" * 64,
        "load_s": 1.0,
        **analysed(run),
    }
    found = [
        {**members, "adapter": name, "paper": of_paper(name)}
        for name in ("engine", "sepa=<script>", "stringrs")
    ]
    text = page(found, {"python": "3"})
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert text.count("<svg") >= 2 + len(found)
    assert "461" in text
    assert "1,013" in text
