"""The alarms as a graph, so that a SUBSCRIBE tells of them as of everything else.

Place on the way of the data: told by the `AlarmWatch` what came and went. It is written as absences
are, with what is deferred, so a disk that takes nothing does not keep it from being told. What a
gateway that ended left there is removed at the start, and raised anew.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from pyoxigraph import Literal, NamedNode, Quad

from gateway.admin.alarm_watch import Alarm, AlarmWatch
from gateway.engine import Outcome
from gateway.errors import GatewayError
from gateway.ingest.sosa import Identity
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.delta import Delta, quads_delta
from gateway.rdf.namespaces import ALARMS_GRAPH, GW, RDF, XSD
from gateway.runtime.alarms import AlarmKind, Condition
from gateway.scheduler.scheduler import Scheduler, Submission
from gateway.store.update import change

log = logging.getLogger(__name__)

_TYPE = NamedNode(RDF + "type")
_ALARM = NamedNode(GW + "Alarm")
_KIND = NamedNode(GW + "alarmKind")
_SINCE = NamedNode(GW + "since")
_WHERE = NamedNode(GW + "where")
_WHAT = NamedNode(GW + "what")
_WHAT_TO_DO = NamedNode(GW + "whatToDo")
_FAULT = NamedNode(GW + "isFault")
_DATE_TIME = NamedNode(XSD + "dateTime")


class AlarmGraph:
    """Keeps the graph of alarms as the watch has them; `run` is a task."""

    def __init__(self, scheduler: Scheduler, identity: Identity) -> None:
        self._scheduler = scheduler
        self._identity = identity
        self._deltas: asyncio.Queue[Delta] = asyncio.Queue()

    async def empty(self) -> None:
        """Remove what stands there; before `run`. A disk that takes nothing is told of by the log.

        The graph is there from now on, if empty: to make one is nothing that can be deferred.
        """
        text = f"CREATE SILENT GRAPH {ALARMS_GRAPH} ; CLEAR GRAPH {ALARMS_GRAPH}"
        try:
            await self._scheduler.update(text)
        except GatewayError as error:
            log.error("alarms_not_written", extra={"reason": str(error)})

    def follow(self, watch: AlarmWatch) -> None:
        """Write what it finds from now on, and what it has found."""
        watch.on_change(self._take)

    async def run(self) -> None:
        """Write what has changed, in order, until cancelled."""
        while True:
            delta = await self._deltas.get()
            # It waits while the URQ is full, which the event loop must not.
            await asyncio.to_thread(self._scheduler.submit, [Submission([change(delta)], _told)])

    def _take(self, came: Sequence[Alarm], went: Sequence[Alarm]) -> None:
        added = [quad for alarm in came for quad in self._quads(alarm)]
        removed = [quad for alarm in went for quad in self._quads(alarm)]
        self._deltas.put_nowait(quads_delta(added, removed))

    def _quads(self, alarm: Alarm) -> Iterator[Quad]:
        said, node = alarm.condition, self._node(alarm)
        since = alarm.since.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        told: dict[NamedNode, NamedNode | Literal] = {
            _TYPE: _ALARM,
            _KIND: kind_node(said.kind),
            _SINCE: Literal(since, datatype=_DATE_TIME),
            _WHERE: _place(said),
            _WHAT: Literal(said.what),
            _WHAT_TO_DO: Literal(said.what_to_do),
            _FAULT: Literal(said.is_fault),
        }
        for predicate, value in told.items():
            yield canonical_quad(Quad(node, predicate, value, ALARMS_GRAPH))

    def _node(self, alarm: Alarm) -> NamedNode:
        said, own = alarm.condition, self._identity
        digest = blake2b(said.where.encode(), digest_size=8).hexdigest()
        return NamedNode(f"{own.base_iri}{own.gateway}/alarm/{said.kind.value}/{digest}")


def kind_node(kind: AlarmKind) -> NamedNode:
    """The term of a kind of alarm in ontologies/gateway.ttl.

    >>> kind_node(AlarmKind.BROKEN_MAPPING).value
    'https://sosa-gateway.example/ns#BrokenMappingAlarm'
    """
    return NamedNode(GW + "".join(map(str.capitalize, f"{kind.value}_alarm".split("_"))))


def _place(said: Condition) -> NamedNode | Literal:
    """The node itself where it is about one with an IRI, so that queries can join it."""
    try:
        return NamedNode(said.where) if said.kind.is_of_node else Literal(said.where)
    except ValueError:
        return Literal(said.where)


def _told(_: Outcome | GatewayError, last: Outcome | GatewayError) -> None:
    if isinstance(last, GatewayError):
        log.error("alarms_not_written", extra={"reason": str(last)})
