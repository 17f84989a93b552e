"""`Publisher`: follows the graph and tells Home Assistant.

Place on the way of the data: behind ingest (readings), actuation (actuators) and the engine (what
changed); before a broker, by a `Carrier`. The graph is read again when what describes streams has
changed, when a stream is heard that is not known, and each minute; readings between go from ingest
to the board without it.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from adapters.values.observation import StreamKey
from gateway.actuation.actuators import Actuators
from gateway.engine import SubscribeRequest
from gateway.errors import GatewayError
from gateway.exchange.homeassistant.board import Board, Out
from gateway.exchange.homeassistant.description import CommandTopic, Naming
from gateway.exchange.homeassistant.earlier import Earlier
from gateway.exchange.homeassistant.entity import Described, State
from gateway.exchange.homeassistant.facts import FOLLOWED
from gateway.exchange.homeassistant.readings import Readings, reading_of
from gateway.exchange.homeassistant.settings import PublishSettings
from gateway.exchange.homeassistant.survey import Known, Survey, virtual_entity
from gateway.exchange.homeassistant.topics import Topics
from gateway.exchange.homeassistant.virtual_sensors import QUERY, VirtualSensors
from gateway.ingest.mappings import MappingTable
from gateway.journal import Record
from gateway.profiles import Profiles
from gateway.rdf.rights import Rights
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.runtime.loop_calls import LoopCalls
from gateway.scheduler.scheduler import Scheduler

log = logging.getLogger(__name__)

TOGETHER_S = 0.1
"""What comes within such a time is looked at once."""

_LOOK_S = 60.0
"""The graph is read again at least so often: what an UPDATE deletes says so nowhere else."""

_SOON_S = 0.5
_PATIENCE = 10
"""A look at the graph takes at most one part in so many of the time, but where that is long."""

_LONGEST_PAUSE_S = 5.0

_BATCH = 50
"""So many messages are sent before others have their turn."""

_EVENT_S = 0.5
"""What Home Assistant has to learn a new word of an event, before it is told."""


class Carrier(Protocol):
    """The way to the broker; for the event loop."""

    async def send(self, message: Out) -> bool:
        """Send a message; False where nobody has it who would keep it."""


@dataclass(frozen=True, slots=True)
class Around:
    """What it stands on; `profiles` gives those of now."""

    scheduler: Scheduler
    profiles: Callable[[], Profiles]
    mappings: MappingTable
    actuators: Actuators
    command_topic: CommandTopic
    loop_calls: LoopCalls
    earlier: Earlier


@dataclass(slots=True)
class PublishStatistics:
    """Counters since the start; `left_out` is how many there was no room for at the last look."""

    announcements: int = 0
    taken_back: int = 0
    states: int = 0
    events: int = 0
    looks: int = 0
    births: int = 0
    left_out: int = 0


class Publisher:
    """`run` and `virtual.run` are tasks of the event loop; `readings.stored` is for ingest."""

    def __init__(self, around: Around, settings: PublishSettings, topics: Topics) -> None:
        call = around.loop_calls.call
        self.statistics = PublishStatistics()
        self.topics = topics
        self.readings = Readings(lambda: call(self._wake))
        self._around = around
        self._settings = settings
        self._rights = Rights(read=settings.graphs, write=frozenset())
        self.virtual = VirtualSensors(
            around.scheduler,
            lambda: around.profiles().queries,
            self._rights,
            around.loop_calls,
            lambda: call(self._rows_came),
        )
        self._survey = Survey(
            around.scheduler.engine.query,
            lambda: around.profiles().query_text("STREAMS"),
            settings.left_out,
            self._rights,
        )
        self._board = Board(topics, settings.interval_s)
        self._streams: dict[StreamKey, str] = {}
        self._rows: set[str] = set()
        self._kept: frozenset[str] = frozenset()
        self._parting: frozenset[str] = frozenset()
        self._woken = asyncio.Event()
        self._is_stale = self._is_anew = self._has_rows = False
        self._looked_at, self._look_s = 0.0, 0.0
        self._held: list[tuple[float, Out]] = []
        topics.on_birth(self._born)

    @property
    def announced(self) -> int:
        """How many entities there are now."""
        return len(self._board.entities)

    @property
    def reads_streams(self) -> bool:
        """Whether anything is told of observations: they are in the default graph."""
        return self._settings.publish and self._rights.may_read(DEFAULT_GRAPH)

    async def follow(self) -> None:
        """Have what changes told, from now on; what there is already is looked at by `run`."""
        around = self._around
        if not self._settings.publish:
            return
        around.mappings.on_change(lambda _: self.look_soon())
        around.actuators.on_change(self.look_soon)
        for text in FOLLOWED:
            request = SubscribeRequest(text, rights=self._rights)
            await around.scheduler.subscribe(request, sink=lambda _: self.look_soon())
        await around.scheduler.subscribe(SubscribeRequest(QUERY), sink=self.virtual.learn)

    def look_soon(self) -> None:
        """Have the graph read again; in any thread."""
        self._around.loop_calls.call(self._stale)

    def anew(self) -> None:
        """Have all sent again, in the event loop: the broker may have nothing of it."""
        self._is_anew = True
        self._wake()

    async def run(self, carrier: Carrier) -> None:
        """Announce, tell and take back, until cancelled."""
        self._kept = await asyncio.to_thread(self._around.earlier.read)
        await self._look(carrier)
        while True:
            await self._wait()
            if self._is_anew:
                self._is_anew = False
                await self._take_back(carrier)
                await self._send(carrier, self._board.anew())
            await self._hear(carrier)
            if monotonic() >= self._look_at:
                await self._look(carrier)
            await self._send(carrier, self._due())
            await asyncio.sleep(TOGETHER_S)

    # What wakes it, in the event loop.

    def _wake(self) -> None:
        self._woken.set()

    def _stale(self) -> None:
        self._is_stale = True
        self._wake()

    def _rows_came(self) -> None:
        self._has_rows = True
        self._wake()

    def _born(self) -> None:
        self.statistics.births += 1
        self.anew()

    @property
    def _look_at(self) -> float:
        """When the graph is read next."""
        soon_s = min(_LONGEST_PAUSE_S, max(_SOON_S, self._look_s * _PATIENCE))
        return self._looked_at + (soon_s if self._is_stale else _LOOK_S)

    async def _wait(self) -> None:
        """Until something has come or is due."""
        due = [self._look_at, *(at for at, _ in self._held)]
        wait_s = min(due) - monotonic()
        if (told_s := self._board.wait_s) is not None:
            wait_s = min(wait_s, told_s)
        try:
            async with asyncio.timeout(max(0.0, wait_s)):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()

    # What it does then.

    async def _look(self, carrier: Carrier) -> None:
        """Read the graph, and have announced what it says."""
        began, self._is_stale = monotonic(), False
        unknown = self.readings.take_unknown()
        described = await self._described()
        self._looked_at = monotonic()
        self._look_s = self._looked_at - began
        if described is None:
            return
        self.statistics.looks += 1
        self.statistics.left_out = described.left_out
        announced = list(self._board.adopt(described))
        await self._take_back(carrier)
        await self._send(carrier, announced)
        self._listen(described, unknown)

    async def _described(self) -> Described | None:
        """What is to be announced; None where the graph cannot be read now."""
        around = self._around
        if not self._settings.publish:
            return Described()
        self._has_rows = False
        rows = list(self.virtual.rows())
        known = Known(around.mappings.mappings, [*around.actuators.by_iri.values()], rows)
        keep = frozenset(self._board.entities)
        naming = Naming(self.topics, around.command_topic, self._settings.entities, keep)
        self._rows = {virtual_entity(*each, self.topics) for each in known.each_row()}
        try:
            return await asyncio.to_thread(self._survey.look, known, naming)
        except GatewayError as error:
            log.error("announcements_not_renewed", extra={"reason": str(error)})
            return None

    def _listen(self, described: Described, unknown: Iterable[StreamKey]) -> None:
        """Take readings of what is announced, and of nothing that was just not found."""
        streams = self._streams = dict(described.streams)
        entities = described.entities
        each_counts = {stream: entities[id_].is_event for stream, id_ in streams.items()}
        self.readings.listen(each_counts, described.times)
        passed_over = self.readings.passed_over.union(unknown)
        self.readings.passed_over = frozenset(each for each in passed_over if each not in streams)

    async def _take_back(self, carrier: Carrier) -> None:
        """Empty messages in the place of what is not announced any more, kept until they are had.

        A state goes after its announcement, when nobody reads it any more. What is retained is on
        the disk before it is sent.
        """
        topics = self._board.topics
        if topics - self._kept:
            await self._keep(self._kept | topics)
        gone = self._kept - topics
        states = frozenset(topic for topic in gone if not self.topics.is_config(topic))
        now = sorted(gone - states | gone & self._parting)
        self._is_stale |= bool(states - self._parting)
        self._parting = states
        had = {topic for topic in now if await carrier.send(Out(topic, b""))}
        self.statistics.taken_back += len(had)
        if had:
            await self._keep(self._kept - had)

    async def _keep(self, topics: frozenset[str]) -> None:
        self._kept = topics
        await asyncio.to_thread(self._around.earlier.write, topics)

    async def _hear(self, carrier: Carrier) -> None:
        """Take the readings that came, and the rows of virtual sensors."""
        newest, events = self.readings.take()
        if self.readings.has_unknown:
            self._is_stale = True
        for stream, record in newest.items():
            self._read(stream, record)
        for stream, records in events.items():
            for record in records:
                await self._happen(carrier, stream, record)
        if self._has_rows:
            self._has_rows = False
            self._is_stale |= not self._told_rows()

    def _read(self, stream: StreamKey, record: Record) -> None:
        how, id_ = record.observation.circumstances, self._streams.get(stream)
        is_alive = not (how.seed or how.historical)
        if id_ is not None and not self._board.read(id_, *reading_of(record), is_alive=is_alive):
            self._is_stale = True

    async def _happen(self, carrier: Carrier, stream: StreamKey, record: Record) -> None:
        """Tell an event; one with a new word when Home Assistant has learned that."""
        announced, told = self._board.event(self._streams.get(stream, ""), reading_of(record)[0])
        if told is None:
            return
        self.statistics.events += 1
        await self._send(carrier, announced)
        if announced or self._held:
            self._held.append((monotonic() + _EVENT_S, told))
        else:
            await carrier.send(told)

    def _told_rows(self) -> bool:
        """Tell the states of rows; False where devices came or went."""
        seen = set()
        for sensor, rows in self.virtual.rows():
            for row in rows:
                id_ = virtual_entity(sensor, row, self.topics)
                seen.add(id_)
                if id_ not in self._rows or not self._board.fits(id_, row.value, row.unit):
                    return False
                self._board.tell(id_, State(row.value, row.unit))
        return seen == self._rows

    def _due(self) -> list[Out]:
        """The states and the events whose time has come."""
        now = monotonic()
        events = [out for at, out in self._held if at <= now]
        self._held = [(at, out) for at, out in self._held if at > now]
        states = list(self._board.due())
        self.statistics.states += len(states)
        return events + states

    async def _send(self, carrier: Carrier, messages: Iterable[Out]) -> None:
        """Let others have their turn between."""
        for number, message in enumerate(messages, 1):
            self.statistics.announcements += message.retain and message.qos > 0
            await carrier.send(message)
            if number % _BATCH == 0:
                await asyncio.sleep(0)
