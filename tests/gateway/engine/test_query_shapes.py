"""The 37 query shapes of the benchmark and some beside them, each under 80 random updates.

Other incremental engines get some of them wrong (a MINUS of two matches, an OPTIONAL with a FILTER,
MIN beside MAX) and refuse some (EXISTS, `p*`, `p+`). After every update the rows told so far are
what the query answers when it is evaluated again. The graph is so small that updates meet.
"""

from random import Random

import pytest

from bench.city.shapes import NS, SHAPES
from gateway.engine import Engine
from tests.gateway.engine.engine_session import Session, Subscribe, Update

pytestmark = pytest.mark.conformance

_BESIDE = {
    "OPTIONAL in OPTIONAL": "SELECT * { ?a :p ?b OPTIONAL { ?b :q ?c OPTIONAL { ?c :value ?d } } }",
    "FILTER of an OPTIONAL on what is outside": (
        "SELECT * { ?a :p ?b . ?a :value ?v OPTIONAL { ?b :value ?w FILTER(?w > ?v) } }"
    ),
    "MINUS of a constant": "SELECT * { ?a :p ?b MINUS { ?a :value 50 } }",
    "MINUS without a common variable": "SELECT * { ?a :p ?b MINUS { ?c :q ?d } }",
    "FILTER with EXISTS": "SELECT * { ?a :value ?b FILTER(?b > 60 || EXISTS { ?a :q ?c }) }",
    "VALUES with UNDEF": (
        "SELECT * { ?a :p ?b VALUES (?a ?b) { (UNDEF :n1) (:n1 UNDEF) (:n1 UNDEF) } }"
    ),
    "GRAPH in UNION": "SELECT * { { ?a :p ?b } UNION { GRAPH ?g { ?a :p ?b } } }",
    "GRAPH in OPTIONAL": "SELECT * { ?a :p ?b OPTIONAL { GRAPH :g1 { ?b :p ?c } } }",
    "ASK": "ASK { ?a :p ?b . ?b :q ?a }",
    "CONSTRUCT": "CONSTRUCT { ?a :made ?c } WHERE { ?a :p ?b . ?b :q ?c }",
}
_TEXTS = {name: f"PREFIX : <{NS}>\n{text}" for name, text in (SHAPES | _BESIDE).items()}
_NODES = (":n1", ":n2", ":n3")


def _triple(random: Random) -> str:
    predicate = random.choice((":p", ":p", ":q", ":r", ":value", ":value", ":kind"))
    values = {":value": ("40", "50", "60", "70"), ":kind": (":Rare", ":Common")}
    value = random.choice(values.get(predicate, _NODES))
    return f"{random.choice(_NODES)} {predicate} {value} ."


def _data(random: Random) -> str:
    triples = " ".join(_triple(random) for _ in range(random.randint(2, 7)))
    return triples if random.randint(0, 2) else f"GRAPH :g1 {{ {triples} }}"


def _update(random: Random) -> str:
    """Inserts, deletes, replaces, or does nothing."""
    match random.randint(1, 6):
        case 1 | 2:
            return f"INSERT DATA {{ {_data(random)} }}"
        case 3:
            return f"DELETE DATA {{ {_data(random)} }} ; INSERT DATA {{ {_data(random)} }}"
        case 4:
            return f"DELETE WHERE {{ {random.choice(_NODES)} ?p {random.choice(_NODES)} }}"
        case 5:
            node = random.choice(_NODES)
            return (
                f"DELETE {{ {node} :value ?old }} INSERT {{ {node} :value ?new }} "
                f"WHERE {{ {node} :value ?old BIND(?old + 10 AS ?new) }}"
            )
        case _:
            triple = _triple(random)
            return f"INSERT DATA {{ {triple} }} ; DELETE DATA {{ {triple} }}"


def test_there_are_37_shapes() -> None:
    assert len(SHAPES) == 37


@pytest.mark.parametrize("name", _TEXTS)
def test_rows_told_add_up_to_the_answer_after_each_of_80_updates(name: str) -> None:
    random = Random(name)
    engine = Engine.open()
    session = Session(engine, [_TEXTS[name]])
    session.take(Subscribe(0))
    for _ in range(80):
        session.take(Update(f"PREFIX : <{NS}>\n{_update(random)}"))
    assert engine.statistics.notifications >= 2, "updates that meet the shape"
