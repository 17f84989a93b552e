"""`VirtualSensors`: entities that are rows of a query, one for each device; published, not stored.

Place on the way of the data: learned by a subscription to the graph of mappings, as rules are; each
is a subscription of its own, with the publisher's rights. docs/homeassistant.md has an example.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode

from adapters.values.units import unit_iri
from gateway.actuation.rules import query_of
from gateway.engine import Notification, SubscribeRequest
from gateway.engine.windowed.over import OVER_NOTHING, OverWindows
from gateway.errors import GatewayError
from gateway.rdf.answer import Answer
from gateway.rdf.namespaces import GW, MAPPINGS_GRAPH, RDFS
from gateway.rdf.rights import Rights
from gateway.rdf.terms import Term
from gateway.runtime.loop_calls import LoopCalls
from gateway.scheduler.scheduler import Scheduler
from jsap.template import Template

log = logging.getLogger(__name__)

MOST_DEVICES = 500
"""Rows of one virtual sensor; what has more is not published."""

_OPTIONS = {
    "queryText": f"<{GW}sparql>",
    "queryId": f"<{GW}query>",
    "infer": f"<{GW}infer>",
    "property": f"<{GW}observedProperty>",
    "unit": f"<{GW}unit>",
    "label": f"<{RDFS}label>",
}

QUERY = (
    f"SELECT ?virtual {' '.join(f'?{name}' for name in _OPTIONS)} "
    f"{{ GRAPH {MAPPINGS_GRAPH} {{ ?virtual a <{GW}VirtualSensor> . "
    + " ".join(f"OPTIONAL {{ ?virtual {path} ?{name} }}" for name, path in _OPTIONS.items())
    + " } }"
)
"""The virtual sensors that there are."""


@dataclass(frozen=True, slots=True)
class VirtualSensor:
    """What a node of gw:VirtualSensor says; `unit` is a QUDT IRI or None."""

    iri: str
    sparql: str
    observed_property: str = ""
    unit: str | None = None
    label: str = ""
    infer: bool = False
    over: OverWindows = OVER_NOTHING

    def request(self, rights: Rights) -> SubscribeRequest:
        """What it subscribes to."""
        return self.over.asked(SubscribeRequest(self.sparql, rights=rights, infer=self.infer))


@dataclass(frozen=True, slots=True)
class Row:
    """A device's value; `name` is the device's, empty where the row has none."""

    device: str
    value: Literal
    unit: str | None = None
    name: str = ""


@dataclass(slots=True)
class _Standing:
    """A virtual sensor in force, and its answer."""

    spuid: str = ""
    answer: Answer = field(default_factory=Answer)
    error: str = ""


class VirtualSensors:
    """`run` is a task of the event loop; `changed` is called in any thread after each change.

    `queries` are the profiles' by id, for those that name one.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        queries: Callable[[], Mapping[str, Template]],
        rights: Rights,
        loop_calls: LoopCalls,
        changed: Callable[[], None],
    ) -> None:
        self._scheduler = scheduler
        self._queries = queries
        self._rights = rights
        self._loop_calls = loop_calls
        self._changed = changed
        self._lock = threading.Lock()
        self._defined = Answer()
        self._refused: Mapping[str, str] = {}
        self._standing: dict[VirtualSensor, _Standing] = {}
        self._changes: asyncio.Queue[frozenset[VirtualSensor]] = asyncio.Queue()

    @property
    def errors(self) -> Mapping[str, str]:
        """Why virtual sensors are not published, by IRI."""
        standing = list(self._standing.items())
        return {**{each.iri: was.error for each, was in standing if was.error}, **self._refused}

    def learn(self, notification: Notification) -> None:
        """The sink of QUERY: take up what changed."""
        self._defined.change(notification.results)
        found: dict[str, VirtualSensor] = {}
        refused: dict[str, str] = {}
        for row in self._defined.fields():
            iri = _text(row, "virtual")
            try:
                if iri in found:
                    raise ValueError("something is said twice of it")
                found[iri] = virtual_sensor(row, self._queries())
            except ValueError as error:
                refused[iri] = str(error)
                if self._refused.get(iri) != str(error):
                    log.error("virtual_sensor_refused", extra={"sensor": iri, "reason": str(error)})
        self._refused = refused
        wanted = frozenset(each for each in found.values() if each.iri not in refused)
        self._loop_calls.call(self._changes.put_nowait, wanted)

    async def run(self) -> None:
        """Subscribe and unsubscribe as virtual sensors come and go, until cancelled."""
        while True:
            wanted = await self._changes.get()
            for each in [each for each in self._standing if each not in wanted]:
                standing = self._standing.pop(each)
                if standing.spuid:
                    await self._scheduler.release(standing.spuid)
            for each in sorted(wanted - set(self._standing), key=lambda each: each.iri):
                await self._start(each)
            self._changed()
            self._changes.task_done()

    async def settled(self) -> None:
        """Wait until those learned so far are in force, while `run` runs."""
        crossed = asyncio.Event()
        self._loop_calls.call(crossed.set)
        await crossed.wait()
        await self._changes.join()

    def rows(self) -> Iterator[tuple[VirtualSensor, list[Row]]]:
        """What each has now; of those whose rows are wrong none."""
        for sensor, standing in sorted(self._standing.items(), key=lambda item: item[0].iri):
            with self._lock:
                answer = list(standing.answer.fields())
            try:
                found = rows_of(answer, sensor.unit)
            except ValueError as error:
                self._fail(sensor, standing, str(error))
            else:
                standing.error = standing.error if not standing.spuid else ""
                yield sensor, found

    async def _start(self, sensor: VirtualSensor) -> None:
        standing = self._standing[sensor] = _Standing()

        def told(notification: Notification) -> None:
            with self._lock:
                standing.answer.change(notification.results)
            self._changed()

        def ended(error: GatewayError) -> None:
            self._loop_calls.call(self._ended, sensor, str(error))

        try:
            request = sensor.request(self._rights)
            standing.spuid = await self._scheduler.subscribe(request, sink=told, ended=ended)
        except GatewayError as error:
            self._fail(sensor, standing, str(error))

    def _ended(self, sensor: VirtualSensor, reason: str) -> None:
        """The engine serves it no more: its entities go."""
        standing = self._standing.get(sensor)
        if standing is not None:
            standing.answer = Answer()
            self._fail(sensor, standing, reason)
            self._changed()

    def _fail(self, sensor: VirtualSensor, standing: _Standing, reason: str) -> None:
        if standing.error != reason:
            standing.error = reason
            log.error("virtual_sensor_failed", extra={"sensor": sensor.iri, "reason": reason})


def virtual_sensor(
    row: Mapping[str, Term | None], queries: Mapping[str, Template]
) -> VirtualSensor:
    """From its row of QUERY. Raises ValueError with what is wrong."""
    sparql, infer, over = query_of(row, queries)
    unit = _text(row, "unit")
    known = unit_iri(unit) if unit else None
    if unit and known is None:
        raise ValueError(f"gw:unit: {unit[:40]!a} is no unit that is known")
    return VirtualSensor(
        _text(row, "virtual"),
        sparql,
        _text(row, "property"),
        known,
        _text(row, "label"),
        infer,
        over,
    )


def rows_of(answer: list[dict[str, Term | None]], unit: str | None) -> list[Row]:
    """The rows by device. Raises ValueError where a device has two, or there are too many.

    >>> rows_of([{"device": NamedNode("urn:d"), "value": Literal(1)}], None)[0].device
    'urn:d'
    """
    if len(answer) > MOST_DEVICES:
        raise ValueError(f"it has more than {MOST_DEVICES} rows")
    found: dict[str, Row] = {}
    for fields in answer:
        device, value = _text(fields, "device"), fields.get("value")
        if not device or not isinstance(value, Literal | NamedNode):
            raise ValueError("each row needs ?device and ?value, an IRI or a literal")
        if device in found:
            raise ValueError(f"{device[:80]} has two rows")
        literal = value if isinstance(value, Literal) else Literal(value.value)
        told = fields.get("unit")
        own = told.value if isinstance(told, NamedNode) else unit
        found[device] = Row(device, literal, own, _text(fields, "name"))
    return [found[device] for device in sorted(found)]


def _text(row: Mapping[str, Term | None], name: str) -> str:
    term = row.get(name)
    return term.value if isinstance(term, NamedNode | Literal) else ""
