"""The ways of running an update profile on the city that are compared with each other.

Place on the way of the data: behind `Way`, one class for each of ours; clips.py has the others.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from time import process_time_ns
from typing import Any, cast

from pyoxigraph import Literal, NamedNode, QuerySolutions, RdfFormat, Store, serialize

from bench.city.clips import Clips, ClipsByText
from bench.city.profile import Profile, Update, row_text
from bench.city.streets import ULAMP_TEMPLATE, UROAD_TEMPLATE, city, elsewhere, lamp_iri, road_iri
from bench.city.way import Way
from gateway.engine import Engine, Outcome
from gateway.engine.options import EngineOptions
from gateway.engine.performance import Performance
from gateway.rdf.solutions import ResultsDelta, Row, SolutionBag, difference
from gateway.rdf.terms import Term
from gateway.store.quad_store import QuadStore


class EngineByText(Way):
    """Our engine, each update a text that it has not seen."""

    def __init__(self, profile: Profile) -> None:
        self.engine = self.open(QuadStore(loaded(profile)))
        self._profile = profile
        self._numbers: dict[str, int] = {}

    def subscribe(self) -> None:
        """One SUBSCRIBE each, by text."""
        for number, lamps in enumerate(self._profile.subscriptions):
            self._numbers[self.engine.subscribe(lamps.select).spuid] = number

    def open(self, store: QuadStore) -> Engine:
        """The engine of this way."""
        return Engine(store)

    def prepare(self, update: Update) -> Any:
        """The text."""
        return update.text

    def step(self, prepared: Any) -> Outcome:
        """Update by the text."""
        return self.engine.update(prepared)

    def finish(self) -> None:
        """Bring the store up to the engine: in memory it follows only when a query needs it."""
        self.engine.flush()

    def rows(self, update: Update, outcome: Outcome) -> Iterator[str]:
        """The rows of all notifications of an update."""
        for each in outcome.notifications:
            yield from notified_rows(update, self._numbers[each.spuid], each.results)


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
        """Update by the plan of one lamp, or of a road, with these bindings."""
        return self.engine.update(self._plans["road" in prepared], prepared)


class EngineMeasured(EngineByText):
    """Our engine, which says where its time goes; that takes some time itself."""

    def open(self, store: QuadStore) -> Engine:
        """An engine that counts its time by component."""
        self._performance = Performance(process_time_ns)
        return Engine(store, options=EngineOptions(performance=self._performance))

    def begin(self) -> None:
        """Count from here."""
        self._performance.reset()

    def finish(self) -> None:
        """Bring the store up to the engine; the time is the store's, hence T_UPDATE."""
        started = process_time_ns()
        super().finish()
        self._performance.totals.update += process_time_ns() - started

    def performance(self) -> Mapping[str, Any]:
        """Components and KPIs."""
        found, seen = self._performance, self.engine.statistics
        return {
            "kpi": asdict(found.kpi(seen.subscriptions)),
            "components_ms": {
                name: spent / found.updates / 1e6 for name, spent in asdict(found.totals).items()
            },
            "triples_per_update": found.triples / found.updates,
            "lutt_hit_rate_percent": 100 * found.lutt_hit_rate,
            "lutt_hits": [column.hits for column in found.lutt_columns()],
        }


class EngineWithoutLutt(EngineByText):
    """Our engine, every SPU receiving every Delta."""

    def open(self, store: QuadStore) -> Engine:
        """An engine that asks no LUTT."""
        return Engine(store, options=EngineOptions(lutt=False))


class BareStore(Way):
    """pyoxigraph's store, the same texts, nobody subscribed; its rows are the values afterwards."""

    def __init__(self, profile: Profile) -> None:
        self._store = loaded(profile)
        self._profile = profile

    def subscribe(self) -> None:
        """Nobody subscribes."""

    def prepare(self, update: Update) -> str:
        """The text."""
        return update.text

    def step(self, prepared: str) -> None:
        """Update by the text."""
        self._store.update(prepared)

    def rows(self, update: Update, outcome: None) -> Iterator[str]:
        """The values that the lamps have now."""
        del outcome
        for row in _answer(self._store, update.lamps.select).elements():
            yield row_text(update, -1, "=", *_values(row))


class Naive(BareStore):
    """Ask all subscriptions again after each update and take the difference, as SEPA does."""

    def subscribe(self) -> None:
        """Ask every query once, for the answers to compare with."""
        self._texts = [lamps.select for lamps in self._profile.subscriptions]
        self._answers = [_answer(self._store, text) for text in self._texts]

    def step(self, prepared: str) -> Any:
        """Update the store, ask every subscription again; the changes by its number."""
        self._store.update(prepared)
        before, self._answers = self._answers, [_answer(self._store, t) for t in self._texts]
        changes = (
            (number, difference((), *pair))
            for number, pair in enumerate(zip(before, self._answers, strict=True))
        )
        return [(number, change) for number, change in changes if not change.is_empty]

    def rows(self, update: Update, outcome: Any) -> Iterator[str]:
        """The rows of every change."""
        for number, change in outcome:
            yield from notified_rows(update, number, change)


WAYS: Mapping[str, Callable[[Profile], Way]] = {
    "engine_text": EngineByText,
    "engine_template": EngineByTemplate,
    "engine_measured": EngineMeasured,
    "bare_store": BareStore,
    "naive": Naive,
    "clips": Clips,
    "clips_text": ClipsByText,
    "lutt_off": EngineWithoutLutt,
}


def loaded(profile: Profile) -> Store:
    """A store in memory with the profile's city, and its copies in other places."""
    store = Store()
    streets = frozenset(profile.streets)
    store.bulk_extend(city(streets))
    if profile.copies:
        text = cast(bytes, serialize((q.triple for q in city(streets)), format=_N_TRIPLES))
        for number in range(profile.copies):
            store.bulk_load(elsewhere(text, number), format=_N_TRIPLES)
    return store


_N_TRIPLES = RdfFormat.N_TRIPLES


def _answer(store: Store, text: str) -> SolutionBag:
    return Counter(tuple(row) for row in cast(QuerySolutions, store.query(text)))


def notified_rows(update: Update, number: int, results: ResultsDelta) -> Iterator[str]:
    """What a notification tells, one row of `row_text` after the other."""
    yield from (row_text(update, number, "+", *_values(row)) for row in results.added)
    yield from (row_text(update, number, "-", *_values(row)) for row in results.removed)


def _values(row: Row) -> Sequence[str]:
    return [cast(NamedNode | Literal, term).value for term in row]
