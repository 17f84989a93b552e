"""Sensors are of the class that their mapping names, and of no other that none names any more.

Place: beside ingest, whose UPDATEs type a sensor with its readings and note by `gw:sensorClass`
that a mapping said so. When mappings change, what they said before is taken back or exchanged here,
by one UPDATE, so that a sensor changes its class with its mapping and not with its next reading.
The journal keeps no class: of a sensor whose readings were replayed at the start it is told here.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from pyoxigraph import NamedNode, Quad

from adapters.values.mapping import Mapping
from adapters.values.observation import StreamKey
from gateway.errors import GatewayError
from gateway.ingest.mappings import MappingTable
from gateway.rdf.delta import Delta, quads_delta
from gateway.rdf.namespaces import GW, RDF
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.runtime.loop_calls import LoopCalls
from gateway.scheduler.scheduler import Scheduler
from gateway.store.quad_store import QuadStore

log = logging.getLogger(__name__)

SENSOR_CLASS = NamedNode(f"{GW}sensorClass")

TYPE = NamedNode(f"{RDF}type")
_PLACEHOLDER = re.compile(r"\\\{(?:[1-9][0-9]{0,2}|name|\\\$[^{}]*)\\\}")

Matches = Callable[[str], object]


class SensorClasses:
    """Follows the mappings; `run` is a task of the event loop. `replayed` are the first streams."""

    def __init__(
        self,
        mappings: MappingTable,
        scheduler: Scheduler,
        calls: LoopCalls,
        replayed: Iterable[StreamKey] = (),
    ) -> None:
        self._mappings = mappings
        self._scheduler = scheduler
        self._replayed = replayed
        self._before: Sequence[Mapping] = ()
        self._changed = asyncio.Event()
        self._changed.set()
        mappings.on_change(lambda _: calls.call(self._changed.set))

    async def run(self) -> None:
        """Take back what mappings say no more, each time they change, until cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._correct(self._mappings.mappings)
            except GatewayError as error:  # then with the next change
                log.error("sensor_classes_not_stored", extra={"reason": str(error)})

    async def _correct(self, now: Sequence[Mapping]) -> None:
        before = self._before
        await self._scheduler.decide(lambda engine: corrected(engine.store, before, now))
        self._before = now
        if self._replayed:
            streams, self._replayed = self._replayed, ()
            await self._scheduler.decide(lambda engine: restored(engine.store, streams, now))


def corrected(store: QuadStore, before: Sequence[Mapping], now: Sequence[Mapping]) -> Delta:
    """The change that makes sensors, known by what mappings said `before`, what they say now."""
    if not any(each.sensor_class for each in chain(before, now)) and not _is_marked(store):
        return Delta()
    named = {(each.sensor_class, _of(each.sensor)) for each in now if each.sensor_class}
    instead = list(_exchanged(before, now))
    added: list[Quad] = []
    removed: list[Quad] = []
    for marker in store.match(None, SENSOR_CLASS, None, DEFAULT_GRAPH):
        sensor, was = marker.subject, marker.object
        if not (isinstance(sensor, NamedNode) and isinstance(was, NamedNode)):
            continue
        if not any(kind == was.value and matches(sensor.value) for kind, matches in named):
            removed += classified(sensor, was)
            for old, matches, new in instead:
                if old == was.value and matches(sensor.value):
                    added += classified(sensor, NamedNode(new))
    return quads_delta(added, removed)


def restored(store: QuadStore, streams: Iterable[StreamKey], mappings: Sequence[Mapping]) -> Delta:
    """The change that types sensors of streams that have no class, though a mapping names one.

    Where those that may be a stream's name several, or one and none, its next reading tells.
    """
    if not any(each.sensor_class for each in mappings):
        return Delta()
    makers = [(_makes(each), each.sensor_class) for each in mappings]
    added: dict[Quad, None] = {}
    for stream in streams:
        sensor = NamedNode(stream[0])
        if next(iter(store.match(sensor, SENSOR_CLASS, None, DEFAULT_GRAPH)), None) is not None:
            continue
        kinds = {kind for makes, kind in makers if makes(stream)}
        kind = kinds.pop() if len(kinds) == 1 else None
        if kind is not None:
            added.update(dict.fromkeys(classified(sensor, NamedNode(kind))))
    return quads_delta(added, ())


def _makes(mapping: Mapping) -> Callable[[StreamKey], bool]:
    """Whether a stream may be one of the mapping's."""
    parts = (mapping.sensor, mapping.observed_property, mapping.feature_of_interest)
    matches = [_of(part) for part in parts]
    return lambda stream: all(match(iri) for match, iri in zip(matches, stream, strict=True))


def classified(sensor: NamedNode, kind: NamedNode) -> tuple[Quad, Quad]:
    """What the store has of a sensor that a mapping names the class of."""
    return (
        Quad(sensor, TYPE, kind, DEFAULT_GRAPH),
        Quad(sensor, SENSOR_CLASS, kind, DEFAULT_GRAPH),
    )


def may_be(mapping: Mapping, sensor: str) -> bool:
    """Whether a mapping may be that of a sensor, by the template of its IRI."""
    return bool(sensors_of(mapping)(sensor))


def sensors_of(mapping: Mapping) -> Matches:
    """Whether an IRI may be that of a sensor of the mapping."""
    return _of(mapping.sensor)


def _is_marked(store: QuadStore) -> bool:
    return next(iter(store.match(None, SENSOR_CLASS, None, DEFAULT_GRAPH)), None) is not None


def _exchanged(
    before: Iterable[Mapping], now: Iterable[Mapping]
) -> Iterator[tuple[str, Matches, str]]:
    """Class, sensors and new class of the mappings that name another one now."""
    is_now = {each.iri: each for each in now}
    for was in before:
        new = is_now.get(was.iri)
        if (
            new is not None
            and was.sensor_class
            and new.sensor_class not in {None, was.sensor_class}
        ):
            yield was.sensor_class, _of(new.sensor), new.sensor_class or ""


def _of(template: str) -> Matches:
    """Whether an IRI is one that a template gives: what is filled in has no reserved character."""
    pattern = _PLACEHOLDER.sub(r"[^:/?#\\[\\]@!$&'()*+,;=]*", re.escape(template))
    return re.compile(pattern).fullmatch
