"""The store sorts whatever there is: an order that is none would end the process."""

import subprocess
import sys
from random import Random

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QuerySolutions, Store, Triple

from gateway.engine import Engine
from gateway.errors import TooLargeError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import XSD
from gateway.rdf.terms import Term
from gateway.sparql.order.total_order import with_total_order
from gateway.store.quad_store import QuadStore
from tests.gateway.engine.odd_literals import ODD_LITERALS

P = NamedNode("urn:p")
ALL = "SELECT ?o { ?s <urn:p> ?o } ORDER BY %s"


def typed(name: str, *forms: str) -> list[Term]:
    return [Literal(form, datatype=NamedNode(XSD + name)) for form in forms]


UNIFORM: dict[str, list[Term]] = {
    "integers": typed("integer", "-10", "-9", "0", "9", "10")
    + typed("integer", "9007199254740992", "9007199254740993"),
    "decimals": typed("decimal", "-1.5", "0.25", "3")
    + typed("decimal", "10.000000000000000001", "10.000000000000000002"),
    "doubles": typed("double", "-INF", "-1.5e0", "0.25e0", "1e300", "INF"),
    "numbers": [
        *typed("double", "-1.5e0"),
        *typed("integer", "2"),
        *typed("decimal", "2.5"),
        *typed("float", "3.5"),
        *typed("byte", "4"),
    ],
    "strings": [Literal(text) for text in ("", "10", "9", "A", "a", "ä", "\U0001f321")],
    "languages": [Literal("a", language=tag) for tag in ("de", "en", "en-gb")],
    "truths": [Literal(False), Literal(True)],
    "iris": [NamedNode("urn:1"), NamedNode("urn:10"), NamedNode("urn:2")],
    "instants": typed("dateTime", "2020-01-01T05:00:00+05:00", "2020-01-01T00:00:01Z")
    + typed("dateTime", "2020-01-01T01:00:00.5Z", "12020-01-01T00:00:00Z"),
    "local instants": typed("dateTime", "2020-01-01T05:00:00", "2020-01-01T10:00:00.25"),
    "days": typed("date", "-0001-01-01", "2020-01-01", "2020-01-02"),
    "times": typed("time", "01:00:00Z", "23:59:59Z"),
    "spans": typed("dayTimeDuration", "-PT1S", "PT2H", "P1D", "PT25H"),
    "months": typed("yearMonthDuration", "P2M", "P1Y", "P13M"),
}  # fmt: skip


def ordered(terms: list[Term], key: str = "?o") -> list[Term | None]:
    store = QuadStore.open(None)
    quads = tuple(Quad(NamedNode(f"urn:{n}"), P, term) for n, term in enumerate(terms))
    store.apply(Delta(added=quads))
    return [row["o"] for row in solutions(store.query(ALL % key))]


def solutions(results: object) -> QuerySolutions:
    assert isinstance(results, QuerySolutions)
    return results


@pytest.mark.parametrize("kind", UNIFORM)
def test_terms_of_one_type_are_in_the_order_of_their_values(kind: str) -> None:
    terms = UNIFORM[kind]
    shuffled = Random(1).sample(terms, len(terms))
    assert list(map(str, ordered(shuffled))) == list(map(str, ordered(terms)))
    assert [str(each) for each in ordered(shuffled, "DESC(?o)")] == [
        str(each) for each in reversed(ordered(terms))
    ]
    native = Store()
    native.extend(Quad(NamedNode(f"urn:{n}"), P, term) for n, term in enumerate(terms))
    found = [str(row["o"]) for row in solutions(native.query(ALL % "?o"))]
    assert found == [str(each) for each in ordered(terms)]


def test_kinds_of_terms_follow_each_other() -> None:
    triple = Triple(NamedNode("urn:s"), P, Literal(1))
    rising: list[Term] = [BlankNode(), NamedNode("urn:z"), Literal(10), Literal("1"), triple]
    assert ordered([*reversed(rising)]) == rising


@pytest.mark.parametrize(
    "key",
    [
        *("ASC(?o)", "desc (?o)", "(?o)", "DESC(?o + 1)", "(STRLEN(?o)) ?o", "COALESCE(?o, 1)"),
        *("<http://www.w3.org/2001/XMLSchema#string>(?o) ?s", "DESC # why ( not\n (?o)", "RAND()"),
        *("EXISTS { ?s <urn:q> ?o }", "IF(?o > 1, ?o, 'ORDER BY ?s')", "?o LIMIT 3 OFFSET 1"),
    ],
)
def test_whatever_the_key_is(key: str) -> None:
    found = ordered([Literal(2), Literal(1), Literal("x"), Literal(3), NamedNode("urn:a")], key)
    assert len(found) == (3 if "LIMIT" in key else 5)


def test_groups_and_their_aggregates_can_be_ordered() -> None:
    with_groups = (
        "SELECT ?s (SUM(?o) AS ?n) { ?s <urn:p> ?o } GROUP BY ?s ORDER BY DESC(SUM(?o)) ?s"
    )
    store = QuadStore.open(None)
    numbers = {"a": 1, "b": 3, "c": 2}
    quads = (Quad(NamedNode(f"urn:{name}"), P, Literal(n)) for name, n in numbers.items())
    store.apply(Delta(added=tuple(quads)))
    found = store.query(with_groups)
    assert [str(row["s"]) for row in solutions(found)] == ["<urn:b>", "<urn:c>", "<urn:a>"]


def test_text_without_order_is_left_alone() -> None:
    for text in ("SELECT ?order { ?s ?p 'order by ?o' }", "ASK { ?s ?p ?o } # ORDER BY ?o"):
        assert with_total_order(text) == text


def test_long_expression_is_not_written_out() -> None:
    options = ", ".join(f"<urn:{number}>" for number in range(5_000))
    with pytest.raises(TooLargeError, match="BIND"):
        with_total_order(ALL % f"(?o IN ({options}))")
    bound = f"SELECT ?o {{ ?s ?p ?o BIND(?o IN ({options}) AS ?is) }} ORDER BY ?is"
    assert len(with_total_order(bound)) < 2 * len(bound)


def test_slice_takes_the_same_rows_whatever_was_first() -> None:
    terms: list[Term] = [
        *ODD_LITERALS,
        NamedNode("urn:a"),
        Triple(NamedNode("urn:s"), P, Literal(1)),
    ]
    taken = {
        tuple(map(str, ordered(Random(seed).sample(terms, len(terms)), "?o LIMIT 20 OFFSET 9")))
        for seed in range(5)
    }
    assert len(taken) == 1


def hostile(random: Random) -> list[Term]:
    """What the store's own sort does not survive for long."""
    mixed: list[Term] = [*ODD_LITERALS]
    for number in range(300):
        day = f"2020-01-01T{number % 24:02}:00:00{random.choice(('', 'Z', '+05:00'))}"
        mixed += random.choice(
            [
                [Literal(number), Literal(str(number))],
                [Literal(number / 3), *typed("decimal", f"{number}.0000001", f"{number}.5")],
                typed("dateTime", day),
                typed("duration", f"P{number}D", f"P{number}M", f"PT{number}H"),
                [Triple(NamedNode("urn:s"), P, Literal(number)), Literal(float("nan"))],
            ]
        )
    random.shuffle(mixed)
    return mixed


def main() -> None:
    """Sort hostile terms every way in which the engine comes to sort; for a process of its own."""
    for seed in range(12):
        random = Random(seed)
        store = QuadStore.open(None)
        terms = hostile(random)
        quads = (Quad(NamedNode(f"urn:{n}"), P, term) for n, term in enumerate(terms))
        store.apply(Delta(added=tuple(quads)))
        engine = Engine(store)
        engine.subscribe("SELECT ?s ?o { ?s <urn:p> ?o } LIMIT 7")
        engine.subscribe("SELECT ?s { ?s <urn:p> ?o } ORDER BY DESC(?o) LIMIT 7")
        engine.subscribe("SELECT * { { SELECT ?o { ?s <urn:p> ?o } ORDER BY ?o OFFSET 7 } }")
        engine.update("INSERT { ?s <urn:q> ?o } WHERE { ?s <urn:p> ?o } ;"
                      "DELETE { ?s <urn:q> ?o } WHERE { "
                      "{ SELECT ?s ?o { ?s <urn:q> ?o } ORDER BY ?o LIMIT 9 } }")  # fmt: skip
        for key in ("?o", "DESC(?o)", "(?o + 0)", "COALESCE(?o, 1) ?s"):
            assert len(list(solutions(engine.query(ALL % key)))) == len(terms)
        engine.close()


def test_process_survives_a_sort_of_anything() -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import main; main()"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:2000]
