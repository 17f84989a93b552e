"""The incremental tier against the oracle: random queries of its shapes, random updates.

Shapes that share a certainly bound variable, so that most queries are of the tier and not evaluated
again; `test_engine_subscriptions` draws from all of SPARQL.
"""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.engine.compile import TierCompiler
from gateway.engine.engine import Engine
from gateway.engine.spu import Subject, evaluate
from gateway.errors import GatewayError
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import SolutionBag
from tests.gateway.engine.engine_strategies import State, requests, states

pytestmark = pytest.mark.property

_LINKS = ("<urn:p>", "<urn:q>", "<urn:p>", "<urn:q>", "<urn:p>/<urn:q>", "^<urn:p>", "!<urn:q>")
_ENDS = ("?x", "?y", "?z", "?w", "<urn:a>", "<urn:b>", "1", "2.5", "_:n", "[]")
_TESTS = (
    *("?y > 1", "?x = <urn:a>", "?y != <urn:b>", "BOUND(?z)", "!BOUND(?w)", "isBlank(?y)"),
    *("?x = ?y", "?z = 1 || ?y = <urn:a>", "?y < 2 && ?x != ?z", "?y IN (1, <urn:a>, ?z)"),
    *("!(?z > 1)", "STR(?y) = 'v'", "COALESCE(?z, 1) = 1", "?w + 1 > ?y"),
    *("EXISTS { ?x <urn:q> ?z }", "NOT EXISTS { ?y <urn:p> ?x FILTER(?x != ?w) }"),
    "?y = 1 || EXISTS { ?x <urn:q> ?y }",
)
_VALUES = (
    *("VALUES ?y { <urn:a> 1 }", "VALUES ?x { <urn:a> <urn:a> }", "VALUES ?z { 1 01 'v' }"),
    *("VALUES (?x ?y) { (<urn:a> UNDEF) (UNDEF 1) }", "VALUES (?x ?z) { (<urn:b> UNDEF) }"),
)
_AGGREGATES = (
    *("COUNT(*)", "COUNT(?z)", "COUNT(DISTINCT ?y)", "SUM(?z)", "SUM(DISTINCT ?y)", "AVG(?y)"),
    *(
        "AVG(DISTINCT ?z)",
        "MIN(?y)",
        "MAX(?z)",
        "MAX(?x)",
        "MIN(STR(?y))",
        "SUM(?y * 2) + COUNT(*)",
    ),
    *("SUM(IF(isNumeric(?y), ?y, 0))", "AVG(IF(isNumeric(?y), ?y, 1))", "MAX(DISTINCT ?y)"),
    *("MIN(IF(isNumeric(?y), ?y, 0))", "SUM(?y * 2) + COUNT(*)"),
)


class Writer:
    """Writes queries whose groups all speak of ?x."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._names = 0

    def pick(self, *choices: str) -> str:
        return self._draw(st.sampled_from(choices))

    def _pattern(self) -> str:
        return f"{self.pick('?x', '?x', '?y')} {self.pick(*_LINKS)} {self.pick(*_ENDS)} ."

    def _patterns(self) -> str:
        some = [self._pattern() for _ in range(self._draw(st.integers(1, 2)))]
        return " ".join(some).replace("_:n", f"_:n{self._next()}")

    def _next(self) -> int:
        self._names += 1
        return self._names

    def _filter(self) -> str:
        return f"FILTER({self.pick(*_TESTS)})"

    def _bind(self) -> str:
        value = self.pick("?y + 1", "STR(?x)", "?z", "IF(BOUND(?z), ?z, 0)", "?y", "<urn:a>")
        return f"BIND({value} AS ?n{self._next()})"

    def _part(self, depth: int) -> str:
        flat: list[Callable[[], str]] = [
            self._patterns,
            self._filter,
            self._bind,
            lambda: self.pick(*_VALUES),
        ]
        deep: list[Callable[[], str]] = [
            *[lambda: f"OPTIONAL {self.group(depth - 1)}"] * 3,
            lambda: f"MINUS {self.group(depth - 1)}",
            lambda: f"{self.group(depth - 1)} UNION {self.group(depth - 1)}",
            lambda: f"GRAPH {self.pick('?g', '?g', '<urn:g>', '?y')} {self.group(depth - 1)}",
            lambda: self.group(depth - 1),
            lambda: f"{{ SELECT ?x {self.pick('', '?y', '?z')} {self.group(depth - 1)} }}",
            lambda: f"{{ {self._grouped(self.group(depth - 1))} }}",
        ]
        return self._draw(st.sampled_from(flat + deep if depth else flat))()

    def group(self, depth: int) -> str:
        parts = [self._part(depth) for _ in range(self._draw(st.integers(0, 2)))]
        return "{ " + " ".join([f"?x {self.pick(*_LINKS)} ?y .", *parts]) + " }"

    def query(self) -> str:
        group = self.group(2)
        dataset = self.pick(*[""] * 6, "FROM <urn:g> ", "FROM <urn:g> FROM <urn:h> ")
        head = self.pick(
            *("SELECT *", "SELECT *", "SELECT ?x ?y", "SELECT ?y ?z", "SELECT DISTINCT ?y"),
            *("SELECT ?x (?y + 1 AS ?n)", "ASK", "CONSTRUCT { ?x <urn:made> ?y . ?y ?x ?z }"),
            "SELECT ?x (EXISTS { ?x <urn:q> ?o } AS ?e)",
        )
        if self._draw(st.integers(0, 2)) == 0:
            return self._grouped(f"{dataset}WHERE {group}")
        return f"{head} {dataset}WHERE {group}"

    def _grouped(self, where: str) -> str:
        columns = " ".join(
            f"({self.pick(*_AGGREGATES)} AS ?a{self._next()})"
            for _ in range(self._draw(st.integers(1, 3)))
        )
        keys, by = self.pick("/", "?x/?x", "?y/?y", "?x ?z/?x ?z", "?k/(STR(?y) AS ?k)").split("/")
        fresh = f"?k{self._next()}"
        keys, by = keys.replace("?k", fresh), by.replace("?k", fresh)
        having = self.pick("", "", " HAVING (COUNT(*) > 1)", " HAVING (SUM(?z) > 1)")
        return f"SELECT {keys} {columns} {where}{' GROUP BY ' + by if by else ''}{having}"


@st.composite
def tier_queries(draw: st.DrawFn) -> str:
    return Writer(draw).query()


class Subscriber:
    """Adds up what it is told of one query."""

    def __init__(self, engine: Engine, text: str) -> None:
        self._engine = engine
        self._subject = Subject(text)
        self.tier = TierCompiler(engine.store).place(self._subject).unit.tier
        first = engine.subscribe(text)
        self.spuid = first.spuid
        self.rows: SolutionBag = Counter(first.results.added)
        self.compare()

    def compare(self) -> None:
        text = self._subject.text
        assert +self.rows == evaluate(self._engine.store, self._subject), text
        assert all(count >= 0 for count in self.rows.values()), text


def check(state: State, texts: list[str], updates: list[str]) -> Counter[str]:
    """Whatever is told adds up to the answer; gives the tiers that served the queries."""
    engine = Engine.open()
    quads = tuple(dict.fromkeys(map(canonical_quad, state.quads)))
    engine.store.apply(Delta(added=quads, graphs_created=state.graphs))
    subscribers = {each.spuid: each for each in (Subscriber(engine, text) for text in texts)}
    for update in updates:
        try:
            outcome = engine.update(update)
        except GatewayError:
            continue
        for notification in outcome.notifications:
            rows = subscribers[notification.spuid].rows
            rows.update(notification.results.added)
            rows.subtract(notification.results.removed)
        for subscriber in subscribers.values():
            subscriber.compare()
    assert engine.statistics.failures == 0
    return Counter(engine.statistics.spus)


@settings(
    max_examples=150,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    states,
    st.lists(tier_queries(), min_size=4, max_size=8, unique=True),
    st.lists(requests(most=2), min_size=1, max_size=4),
)
def test_solutions_concerned_add_up_to_the_answer(
    state: State, texts: list[str], updates: list[str]
) -> None:
    check(state, texts, updates)
