"""Random filters give what evaluating them entity by entity gives; so do orders."""

import random

import pytest
from pyoxigraph import Literal, NamedNode, QuerySolutions, Store

from gateway.engine import Engine
from gateway.exchange.sensorthings.index import Index, Key
from gateway.exchange.sensorthings.model import Set
from gateway.exchange.sensorthings.translation import Asked, question
from gateway.exchange.sensorthings.url.expression_parser import parse_expression
from gateway.exchange.sensorthings.url.syntax import Expression
from gateway.exchange.sensorthings.url.writing import expression_text
from gateway.rdf.geometry import GEOMETRY
from tests.gateway.exchange.sensorthings.reference import Reference
from tests.gateway.exchange.sensorthings.world import OURS, Filters, indexed, update_of

pytestmark = pytest.mark.property


def asked(store: Store, of: Set, condition: Expression) -> set[Key]:
    """What the store says of a filter."""
    found: set[Key] = set()
    posed = question(Asked(of, condition, (), OURS))
    for text in posed.texts:
        results = store.query(text, custom_functions=GEOMETRY)
        assert isinstance(results, QuerySolutions)
        for row in results:
            terms = [row[place] for place in range(posed.keys)]
            parts = [each.value for each in terms if isinstance(each, NamedNode | Literal)]
            found.add(parts[0] if len(parts) == 1 else (parts[0], parts[1], parts[2]))
    return found


def made(seed: int) -> tuple[Store, Index]:
    """A random graph, and its index as the engine tells it."""
    engine, store = Engine.open(), Store()
    engine.update(update_of(seed))
    store.extend(engine.store.match(None, None, None, None))
    index = indexed(engine)
    engine.close()
    return store, index


def compare(seed: int, filters: int) -> None:
    """One graph, and so many filters on each of its sets in turn."""
    store, index = made(seed)
    reference, random_filters = Reference(index), Filters(seed)
    sets = list(Set)
    chance = random.Random(seed)
    for _ in range(filters):
        of = chance.choice(sets)
        text = expression_text(random_filters.condition(of))
        condition = parse_expression(text)
        assert parse_expression(expression_text(condition)) == condition, text
        expected = reference.matching(of, condition)
        found = asked(store, of, condition)
        assert found == expected, f"seed {seed}: {of.value}?$filter={text}"


@pytest.mark.parametrize("seed", range(12))
def test_random_filters_equal_the_reference(seed: int) -> None:
    compare(seed, 30)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_thousands_of_random_filters_equal_the_reference() -> None:
    for seed in range(100, 200):
        compare(seed, 50)


@pytest.mark.parametrize("of", list(Set))
def test_without_a_filter_there_is_what_the_index_has(of: Set) -> None:
    for seed in range(6):
        store, index = made(seed)
        assert asked(store, of, parse_expression("1 eq 1")) == set(index.listed(of)[0])
