"""Random aggregates over a window, readings of all sorts, and a store beside them.

Place: under the oracle test of this tier. Doubles are multiples of a quarter, whose sums are exact
in any order: so the store's answer is the one that is defined.
"""

from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, Triple

from gateway.rdf.canonical import canonical
from gateway.rdf.namespaces import XSD
from gateway.rdf.terms import Term
from tests.gateway.engine.windowed.windowed_session import Push, Update


def urn(name: str) -> NamedNode:
    """One of few names."""
    return NamedNode(f"urn:{name}")


def typed(form: str, datatype: str) -> Term:
    """A literal as the store has it."""
    return canonical(Literal(form, datatype=NamedNode(XSD + datatype)))


_EXACT = [
    *map(Literal, (1, 2, 3, 20, 21, -5, 0)),
    *(typed(form, "decimal") for form in ("0.1", "20.5", "21.0", "-0.25", "3.333333333333333333")),
]
_DOUBLES = [
    *(typed(form, "double") for form in ("0.25", "21.5", "-3.75", "20", "0", "1e6")),
    *map(Literal, (1, 20, 21)),
    typed("0.5", "decimal"),
]
_ODD = [
    Literal("unavailable"),
    typed("many", "integer"),
    typed("true", "boolean"),
    typed("INF", "double"),
    typed("NaN", "double"),
    typed("-INF", "double"),
    typed("9223372036854775807", "integer"),
    typed("1.5", "float"),
    typed("2020-01-01T00:00:00Z", "dateTime"),
    Literal("b", language="en"),
    urn("s1"),
]

_SENSORS = [urn("s1"), urn("s2"), urn("s3")]
_SUBJECTS = [urn(f"o{place}") for place in range(6)]

values = st.sampled_from([*_EXACT, *_EXACT, *_EXACT, *_DOUBLES, *_ODD])
exact_values = st.sampled_from(_EXACT)
double_values = st.sampled_from(_DOUBLES)


def elements(of: st.SearchStrategy[Term]) -> st.SearchStrategy[tuple[Triple, ...]]:
    """Readings: mostly whole, some in parts, some with several values."""

    def reading(subject: NamedNode, sensor: NamedNode, value: Term, kind: int) -> list[Triple]:
        parts = [
            Triple(subject, urn("sensor"), sensor),
            Triple(subject, urn("value"), value),
            Triple(subject, urn("kind"), urn("k" if kind % 3 else "other")),
        ]
        return parts if kind < 7 else parts[kind % 2 :: 2]

    readings = st.builds(
        reading, st.sampled_from(_SUBJECTS), st.sampled_from(_SENSORS), of, st.integers(0, 9)
    )
    return st.lists(readings, max_size=3).map(
        lambda several: tuple(dict.fromkeys(triple for one in several for triple in one))
    )


def pushes(of: st.SearchStrategy[Term], stream: str) -> st.SearchStrategy[Push]:
    """Elements now, late, or ahead of time."""
    before = st.one_of(st.none(), st.none(), st.integers(-3, 8).map(lambda s: s * 1_000_000))
    return st.builds(Push, st.just(stream), elements(of), before)


_STORED = [
    *(f":s{n} :building :b{n % 2}" for n in (1, 2, 3)),
    ":s1 :building :b0",
    *(f":p{n} :room :s{n}" for n in (1, 2)),
    *(f":p{n} :value true" for n in (1, 2)),
    *(f":s{n} :limit {limit}" for n, limit in ((1, 2), (2, 20.5), (1, 21))),
    ":s2 :off true",
    ":b0 :value 3",
]


@st.composite
def updates(draw: st.DrawFn) -> Update:
    """Something of the store comes or goes."""
    verb = draw(st.sampled_from(["INSERT", "DELETE"]))
    triples = draw(st.lists(st.sampled_from(_STORED), min_size=1, max_size=3))
    return Update(f"PREFIX : <urn:> {verb} DATA {{ {' . '.join(triples)} }}")


def stored() -> st.SearchStrategy[list[Quad]]:
    """What the store begins with."""
    quad = Quad(urn("s1"), urn("building"), urn("b1"))
    other = Quad(urn("p1"), urn("room"), urn("s1"))
    return st.lists(st.sampled_from([quad, other]), unique=True)


_AGGREGATES = (
    "COUNT(*)",
    "COUNT(?v)",
    "SUM(?v)",
    "AVG(?v)",
    "AVG(?v)",
    "MIN(?v)",
    "MAX(?v)",
    "COUNT(DISTINCT ?v)",
    "SUM(DISTINCT ?v)",
    "AVG(?v * 2)",
    "COUNT(?v + 1)",
    "MAX(?o)",
    "COUNT(?b)",
    "COUNT(DISTINCT ?o)",
)
_WITHIN = (
    "",
    "",
    "",
    "FILTER(?v > 2)",
    "FILTER(?v > 20)",
    "FILTER(?s = :s1)",
    "FILTER(?s = :s2)",
    "FILTER(?s != :s1)",
    "?s :building ?b .",
    "FILTER NOT EXISTS { ?p :room ?s ; :value true }",
    "FILTER EXISTS { ?p :room ?s }",
    "OPTIONAL { ?s :building ?b }",
    "MINUS { ?s :off ?x }",
    "BIND(?v + 1 AS ?w)",
    "VALUES ?s { :s1 :s2 }",
    "?s :limit ?l . FILTER(?v > ?l)",
    "OPTIONAL { ?s :limit ?l FILTER(?v > ?l) }",
    "?b :value 3 .",
)
_AROUND = (
    "",
    "FILTER(?a0 > 2)",
    "FILTER(?a0 <= 20.5)",
    "FILTER(?s = :s1)",
    "FILTER NOT EXISTS { ?p :room ?s ; :value true }",
    "?s :building ?b .",
    "OPTIONAL { ?s :limit ?l }",
    "?s :limit ?l . FILTER(?a0 > ?l)",
    "?s :limit ?l . FILTER(?l > 3)",
    "?s :limit ?l . FILTER(?l > 20)",
    "?s :limit ?l . FILTER(?a0 > 3 || ?l > 20)",
    "BIND(?a0 + 1 AS ?more)",
    "MINUS { ?s :off ?x }",
    "?s :limit ?a0 .",
    "OPTIONAL { ?s :limit ?a0 }",
    "VALUES ?s { :s1 :s2 }",
)
_HAVING = (
    "",
    "",
    "HAVING(AVG(?v) > {c})",
    "HAVING(COUNT(*) >= 2)",
    "HAVING(MAX(?v) < {c} && COUNT(*) > 1)",
    "HAVING({c} < SUM(?v))",
    "HAVING(MIN(?v) = {c})",
    "HAVING(?s != :s2)",
    "HAVING(AVG(?v) > {c}) (COUNT(?v) < 4)",
)
_CONSTANTS = ("2", "20", "20.5", "21e0", "'x'", "-0.5")
_STARS = (
    "?o :sensor ?s ; :value ?v",
    "?o :sensor ?s ; :value ?v",
    "?o :sensor ?s ; :value ?v ; :kind :k",
    "?o :sensor ?s ; :value ?v ; :kind :other",
    "?o :sensor ?s, :s1 ; :value ?v",
    "?o :sensor ?s, :s2 ; :value ?v",
    "?o :sensor :s1 ; :value ?v ; :kind ?s",
    "?o :sensor :s2 ; :value ?v ; :kind ?s",
    "?o :sensor ?s ; :value ?v, 20",
    "?o :sensor ?s ; :value ?v, ?u",
    "?o :value ?v ; :sensor ?s ; :kind ?s",
)
_KEYS = ("?s", "?s", "?s ?b", "?b", "", "(?v > 2 AS ?big)")


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A query with groups, in a sub-query or not."""
    within = " ".join(draw(st.lists(st.sampled_from(_WITHIN), max_size=2, unique=True)))
    key = draw(st.sampled_from(_KEYS))
    having = draw(st.sampled_from(_HAVING)).format(c=draw(st.sampled_from(_CONSTANTS)))
    chosen = draw(st.lists(st.sampled_from(_AGGREGATES), min_size=1, max_size=3))
    columns = " ".join(f"({each} AS ?a{place})" for place, each in enumerate(chosen))
    shown = key.replace("(?v > 2 AS ?big)", "?big")
    group = f"GROUP BY {key}" if key else ""
    star = draw(st.sampled_from(_STARS))
    grouped = f"SELECT {shown} {columns} {{ GRAPH <urn:g> {{ {star} }} {within} }} {group} {having}"
    if draw(st.booleans()):
        return f"PREFIX : <urn:> {grouped}"
    around = " ".join(draw(st.lists(st.sampled_from(_AROUND), max_size=2, unique=True)))
    return f"PREFIX : <urn:> SELECT * {{ {{ {grouped} }} {around} }}"


def _varied(text: str, constants: tuple[str, str, str]) -> str:
    sensor, number, kind = constants
    return text.replace(":s1", sensor).replace("20", number).replace(":k", kind)


likenesses = st.tuples(
    st.sampled_from([":s1", ":s2"]), st.sampled_from(["20", "2"]), st.sampled_from([":k", ":other"])
)
"""Constants to put in the place of others."""


@st.composite
def families(draw: st.DrawFn) -> list[str]:
    """Queries, some of which differ in constants alone."""
    first = draw(st.lists(texts(), min_size=1, max_size=4))
    return [*first, *(_varied(first[0], each) for each in draw(st.lists(likenesses, max_size=3)))]
