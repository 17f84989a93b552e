"""The ways of running an update profile on the city that are compared with each other.

Place on the way of the data: each is the whole way from an update to the rows of subscriptions,
in memory. What a way needs of an update is prepared before its time is taken; `step` is timed.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from time import process_time_ns
from typing import Any, Protocol, cast

from pyoxigraph import Literal, NamedNode, QuerySolutions, Store

from gateway.bench.city import (
    ULAMP_TEMPLATE,
    UROAD_TEMPLATE,
    city,
    lamp_iri,
    road_iri,
)
from gateway.bench.city_profile import Profile, Update, row_text
from gateway.bench.clips_city import Clips
from gateway.engine import Engine, Outcome
from gateway.engine.performance import Performance
from gateway.rdf.solutions import ResultsDelta, Row, SolutionBag, difference
from gateway.rdf.terms import Term
from gateway.store.quad_store import QuadStore


class Way(Protocol):
    """One way of running updates; `rows` are those of `row_text`, of what `step` returned."""

    def prepare(self, update: Update) -> Any:
        """What `step` needs."""

    def step(self, prepared: Any) -> Any:
        """Run one update."""

    def rows(self, update: Update, outcome: Any) -> Iterator[str]:
        """What its subscriptions were told."""

    def performance(self) -> Mapping[str, object]:
        """What the way itself has found out about its time, if anything."""


class EngineByText:
    """Our engine, each update a text that it has not seen."""

    def __init__(self, profile: Profile) -> None:
        self.engine = self.open(QuadStore(loaded(profile)))
        self._numbers: dict[str, int] = {}
        for number, lamps in enumerate(profile.subscriptions):
            self._numbers[self.engine.subscribe(lamps.select).spuid] = number

    def open(self, store: QuadStore) -> Engine:
        """The engine of this way."""
        return Engine(store)

    def prepare(self, update: Update) -> Any:
        """The text."""
        return update.text

    def step(self, prepared: Any) -> Outcome:
        """See Way."""
        return self.engine.update(prepared)

    def rows(self, update: Update, outcome: Outcome) -> Iterator[str]:
        """See Way."""
        for each in outcome.notifications:
            yield from _rows(update, self._numbers[each.spuid], each.results)

    def performance(self) -> Mapping[str, object]:
        """See Way."""
        return {}


class EngineByTemplate(EngineByText):
    """Our engine, one prepared update with forced bindings."""

    def __init__(self, profile: Profile) -> None:
        super().__init__(profile)
        self._plans = [self.engine.prepare(text) for text in (ULAMP_TEMPLATE, UROAD_TEMPLATE)]

    def prepare(self, update: Update) -> Mapping[str, Term]:
        """The forced bindings."""
        road, post = update.lamps.road, update.lamps.post
        value = Literal(update.value)
        if post is None:
            return {"road": NamedNode(road_iri(road)), "value": value}
        return {"lamp": NamedNode(lamp_iri(road, post)), "value": value}

    def step(self, prepared: Any) -> Outcome:
        """See Way."""
        return self.engine.update(self._plans["road" in prepared], prepared)


class EngineMeasured(EngineByText):
    """Our engine, which says where its time goes; that takes some time itself."""

    def open(self, store: QuadStore) -> Engine:
        """See EngineByText."""
        return Engine(store, performance=Performance(process_time_ns))

    def performance(self) -> Mapping[str, object]:
        """Components and KPIs of what has been run since the last call."""
        found, seen = self.engine.performance, self.engine.statistics
        assert found is not None  # noqa: S101 - `open` has given it
        account = {
            "kpi": asdict(found.kpi(seen.subscriptions)),
            "components_ms": {
                name: spent / found.updates / 1e6 for name, spent in asdict(found.totals).items()
            },
            "triples_per_update": found.triples / found.updates,
            "lutt_hit_rate_percent": 100 * found.lutt_hit_rate,
        }
        found.reset()
        return account


class EngineWithoutLutt(EngineByText):
    """Our engine, every SPU receiving every Delta."""

    def open(self, store: QuadStore) -> Engine:
        """See EngineByText."""
        return Engine(store, lutt=False)


class BareStore:
    """pyoxigraph's store, the same texts, nobody subscribed; its rows are the values afterwards."""

    def __init__(self, profile: Profile) -> None:
        self._store = loaded(profile)

    def prepare(self, update: Update) -> str:
        """The text."""
        return update.text

    def step(self, prepared: str) -> None:
        """See Way."""
        self._store.update(prepared)

    def rows(self, update: Update, outcome: None) -> Iterator[str]:
        """The values that the lamps have now."""
        del outcome
        for row in _answer(self._store, update.lamps.select).elements():
            yield row_text(update, -1, "=", *_values(row))

    def performance(self) -> Mapping[str, object]:
        """See Way."""
        return {}


class Naive(BareStore):
    """Ask all subscriptions again after each update and take the difference, as SEPA does."""

    def __init__(self, profile: Profile) -> None:
        super().__init__(profile)
        self._texts = [lamps.select for lamps in profile.subscriptions]
        self._answers = [_answer(self._store, text) for text in self._texts]

    def step(self, prepared: str) -> Any:
        """See Way; the changes by number of the subscription."""
        self._store.update(prepared)
        before, self._answers = self._answers, [_answer(self._store, t) for t in self._texts]
        changes = (
            (number, difference((), *pair))
            for number, pair in enumerate(zip(before, self._answers, strict=True))
        )
        return [(number, change) for number, change in changes if not change.is_empty]

    def rows(self, update: Update, outcome: Any) -> Iterator[str]:
        """See Way."""
        for number, change in outcome:
            yield from _rows(update, number, change)


WAYS: Mapping[str, Callable[[Profile], Way]] = {
    "engine_text": EngineByText,
    "engine_template": EngineByTemplate,
    "engine_measured": EngineMeasured,
    "bare_store": BareStore,
    "naive": Naive,
    "clips": Clips,
    "lutt_off": EngineWithoutLutt,
}


def loaded(profile: Profile) -> Store:
    """A store in memory with the profile's city."""
    store = Store()
    store.bulk_extend(city(frozenset(profile.streets)))
    return store


def _answer(store: Store, text: str) -> SolutionBag:
    return Counter(tuple(row) for row in cast(QuerySolutions, store.query(text)))


def _rows(update: Update, number: int, results: ResultsDelta) -> Iterator[str]:
    yield from (row_text(update, number, "+", *_values(row)) for row in results.added)
    yield from (row_text(update, number, "-", *_values(row)) for row in results.removed)


def _values(row: Row) -> Sequence[str]:
    return [cast(NamedNode | Literal, term).value for term in row]
