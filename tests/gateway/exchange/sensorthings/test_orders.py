"""Orders, pages, counts and selections of filtered sets equal the reference."""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest
from pyoxigraph import Literal, NamedNode, QuerySolutions, Store

from gateway.exchange.sensorthings.answering import Answering, Matches
from gateway.exchange.sensorthings.entities import Entities
from gateway.exchange.sensorthings.index import Key
from gateway.exchange.sensorthings.model import Set
from gateway.exchange.sensorthings.ordering import Value
from gateway.exchange.sensorthings.seen import micros_of
from gateway.exchange.sensorthings.translation import Asked, question
from gateway.exchange.sensorthings.url.options_parser import parse_options
from gateway.exchange.sensorthings.url.syntax import Expression
from gateway.rdf.geometry import GEOMETRY
from tests.gateway.exchange.sensorthings.reference import Foreign, Reference, Time
from tests.gateway.exchange.sensorthings.test_filters import made
from tests.gateway.exchange.sensorthings.world import Filters

pytestmark = pytest.mark.property

ORDERS = {
    Set.OBSERVATIONS: ("phenomenonTime", "id", "result", "Datastream/name"),
    Set.DATASTREAMS: ("name", "phenomenonTime", "unitOfMeasurement/symbol", "Thing/name"),
    Set.THINGS: ("name", "id", "length(description)"),
    Set.SENSORS: ("name", "properties/iri"),
}


def matches_of(store: Store, asked: Asked) -> Matches:
    found: dict[Key, Sequence[Value]] = {}
    posed = question(asked)
    for text in posed.texts:
        results = store.query(text, custom_functions=GEOMETRY)
        assert isinstance(results, QuerySolutions)
        for row in results:
            terms = [row[place] for place in range(len(results.variables))]
            key = [each.value for each in terms[: posed.keys] if isinstance(each, NamedNode)]
            values = [
                (each.value, each.datatype.value) if isinstance(each, Literal) else None
                for each in terms[posed.keys :]
            ]
            found.setdefault(key[0] if len(key) == 1 else (key[0], key[1], key[2]), values)
    return found


def rank(value: object) -> tuple[int, float, str]:
    """Nothing, truth values, numbers (NaN first), times, texts."""
    match value:
        case None:
            return 0, 0.0, ""
        case bool():
            return 1, float(value), ""
        case int() | float():
            return 2, float("-inf") if value != value else float(value), ""  # noqa: PLR0124
        case Time():
            return 3, float(micros_of(value.begin.isoformat())), ""
        case _:
            return 4, 0.0, str(value)


def place_of(
    reference: Reference, of: Set, expression: Expression, key: Key
) -> tuple[int, float, str]:
    value = reference.value(expression, (of, key))
    return (4, 0.0, value.text) if isinstance(value, Foreign) else rank(value)


@pytest.mark.parametrize("seed", range(4))
def test_orders_pages_and_counts_equal_the_reference(seed: int) -> None:
    store, index = made(seed)
    chance, filters, reference = random.Random(seed), Filters(seed), Reference(index)
    entities = Entities(index, "http://localhost/sta/v1.1")
    for _ in range(12):
        of = chance.choice(list(ORDERS))
        order, descending = chance.choice(ORDERS[of]), chance.random() < 0.5
        options = parse_options(f"$orderby={order}{' desc' if descending else ''}&$count=true")
        condition = filters.condition(of) if chance.random() < 0.6 else None
        answering = Answering(index, entities, lambda asked: matches_of(store, asked))
        options = replace(
            options, filter=condition, skip=chance.randrange(4), top=chance.randrange(1, 6)
        )
        page = answering.page(of, None, options)
        passing = [
            key
            for key in index.listed(of)[0]
            if condition is None or reference.holds(condition, (of, key))
        ]
        place = partial(place_of, reference, of, options.order_by[0].expression)
        expected = sorted(passing, key=place, reverse=descending)
        assert page.total == len(expected)
        chosen = expected[options.skip : options.skip + (options.top or 0)]
        assert [place(key) for key in page.keys] == [place(key) for key in chosen]
        assert page.has_more == (options.skip + (options.top or 0) < len(expected))
