"""`growth`: what an event costs with many queries that it does not answer, and a lamp's update with
many entries of others that it does not match.

Place on the way of the data: the source's side alone, in one process and thread, on a carrier that
acknowledges everything at once. Ways take turns, so that what else the machine does falls on all.
"""

import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from bench.city.profile import Profile
from bench.city.streets import CITY, ROADS
from bench.city.ways import loaded
from bench.federation.chains import GATEWAY, chain_query, event, events
from bench.federation.told import federated
from bench.report import Experiment, Figure, Outcome, digest
from gateway.engine import Engine
from gateway.engine.compound.event import CompoundEvent
from gateway.federation.carrier import Channel, Received
from gateway.federation.limits import GuardLimits, OutgoingLimits
from gateway.federation.member import Member, MemberSettings
from gateway.federation.stream import OutgoingStream
from gateway.federation.wire import Batch, Part
from gateway.journal.record import Origin
from gateway.store.quad_store import QuadStore

FEW, MANY, ENTRIES = 60, 100_000, 300_000
EVENTS = 3_000
ROUNDS = 5
_HOME = "home"
_AT_ONCE = 1_000


class _Kept:
    """A carrier that keeps what is sent by it."""

    def __init__(self) -> None:
        self.payloads: list[bytes] = []

    def send(self, to: str, channel: Channel, payload: bytes) -> None:
        """Keep what is for the home's replica."""
        del to
        if channel is Channel.DATA:
            self.payloads.append(payload)

    def listen(
        self, received: Callable[[Received], None], presence: Callable[[str, bool], None]
    ) -> None:
        """Nothing comes."""

    def renew(self, member: str) -> None:
        """There are no links."""

    def close(self) -> None:
        """Nothing is open."""

    def told(self) -> int:
        """Events that were sent since the last call."""
        batches = map(Batch.decode, self.payloads)
        found = sum(part.kind == "event" for batch in batches for part in batch.parts)
        self.payloads.clear()
        return found


class _Source:
    """A member to which a home says what it needs."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.carrier = _Kept()
        engine.events.places.follow(Origin(GATEWAY), 1, lambda: None)
        # It says at once what a member may say in some minutes: what that costs is not the subject.
        guard = GuardLimits(work_s=600.0, event_work_s=600.0)
        settings = MemberSettings(guard=guard, outgoing=OutgoingLimits(entries=ENTRIES * 2))
        self.member = Member(GATEWAY, engine, self.carrier, settings)
        self.member.presence(_HOME, True)
        self._version = 0
        self._say("hello", {"ask": 1, "version": 0, "entries": []})

    def need(self, name: str, wanted: Sequence[object]) -> None:
        """Have the home need events or entries."""
        for first in range(0, len(wanted), _AT_ONCE):
            base, self._version = self._version, self._version + 1
            part = {"base": base, "version": self._version, "life": self.stream.life}
            self._say("needs", {**part, name: wanted[first : first + _AT_ONCE]})
            self.acknowledge()

    @property
    def stream(self) -> OutgoingStream:
        """What the home is told."""
        return self.member.streams[_HOME].stream

    def acknowledge(self) -> None:
        """Have all arrive."""
        self.stream.acknowledge(self.stream.number - 1)

    def _say(self, kind: str, members: Mapping[str, object]) -> None:
        payload = Batch("", 0, (Part(kind, members),)).encode()
        self.member.receive(Received(_HOME, Channel.NEEDS, payload))


def measure(
    many: int = MANY, entries: int = ENTRIES, roads: int = ROADS, count: int = EVENTS
) -> Iterator[Outcome]:
    """Events beside many queries, then lamps beside many entries."""
    yield _events(many, count)
    yield _lamps(entries, roads)


def _events(many: int, count: int) -> Experiment:
    sources = {size: _asked(size) for size in (FEW, FEW + many)}
    stated = [event(number, quads, 1) for number, quads in enumerate(events(count, FEW))]
    spent: dict[int, list[float]] = {size: [] for size in sources}
    told = dict.fromkeys(sources, 0)
    for _ in range(ROUNDS):
        for size, source in sources.items():
            begun = process_time()
            for each in stated:
                source.member.happened(fresh(each))
                source.acknowledge()
            spent[size].append((process_time() - begun) / count * 1e6)
            told[size] += source.carrier.told()
    for source in sources.values():
        source.engine.close()
    few, more = (median(spent[size]) for size in sources)
    figures = (
        Figure(f"CPU of an event, {FEW} queries", few, "µs"),
        Figure(f"CPU of an event, {FEW + many:,} queries", more, "µs"),
        Figure("more to few", more / few, "times", "1.2 wanted"),
    )
    runs = [
        federated(
            gateways=2,
            subscriptions=size,
            events=count * ROUNDS,
            delivered=told[size],
            lost=count * ROUNDS - told[size],
            cpu_us_per_event={"source": median(spent[size]), "home": None},
            carrier="none",
        )
        for size in sources
    ]
    return Experiment(
        f"federation growth, {many:,} event queries that do not fire",
        figures,
        digest(f"{size} {count}" for size, count in told.items()),
        digest(f"{size} {count * ROUNDS}" for size in sources),
        members={**federated(gateways=2, carrier="none"), "runs": runs},
    )


def fresh(known: CompoundEvent) -> CompoundEvent:
    """The event as new: nothing of it has been looked up yet."""
    return CompoundEvent(
        known.graph,
        known.term,
        known.triples,
        gateway=known.gateway,
        position=known.position,
        time=known.time,
    )


def _asked(size: int) -> _Source:
    source = _Source(Engine.open())
    source.need("events", [[number, chain_query(number), None] for number in range(size)])
    source.carrier.told()
    return source


def _lamps(entries: int, roads: int) -> Experiment:
    """One engine with the city's subscriptions; its member in turn listens and does not."""
    profile = Profile("lamp", roads)
    engine = Engine(QuadStore(loaded(profile)))
    for lamps in profile.subscriptions:
        engine.subscribe(lamps.select)
    source = _Source(engine)
    before = _resident()
    source.need("add", [_entry(number) for number in range(entries)])
    grown = (_resident() - before) / entries
    spent: dict[bool, list[float]] = {False: [], True: []}
    told: dict[bool, int] = {False: 0, True: 0}
    for turn in range(ROUNDS * 2 + 2):
        is_on = bool(turn % 2)
        engine.events.watcher = source.member.changed if is_on else None
        updates = profile.updates(f"v{turn}")
        begun = process_time()
        for each in updates:
            told[is_on] += len(engine.update(each.text).notifications)
        engine.flush()
        if turn > 1:
            spent[is_on].append((process_time() - begun) / len(updates) * 1e6)
    source.acknowledge()
    useless = len(source.carrier.payloads) - _answers(entries)
    off, on = median(spent[False]), median(spent[True])
    engine.close()
    members = federated(
        gateways=2,
        subscriptions=len(profile.subscriptions),
        events=len(updates) * ROUNDS,
        useless=useless,
        cpu_us_per_event={"source": on, "home": None},
        carrier="none",
    )
    told_each = f"told {told[True]}", f"told {told[False]}"
    return _with_and_without(entries, (off, on, grown), told_each, members)


def _with_and_without(
    entries: int,
    measured: tuple[float, float, float],
    told: tuple[str, str],
    members: Mapping[str, Any],
) -> Experiment:
    """The figures of an update without and with federation; notifications must be the same."""
    off, on, grown = measured
    figures = (
        Figure("CPU of a lamp's update, federation off", off, "µs"),
        Figure(f"the same with {entries:,} entries of another", on, "µs"),
        Figure("on to off", on / off, "times", "1.2 wanted"),
        Figure("memory of an entry", grown, "bytes", "900 wanted"),
    )
    runs = [{**members, "cpu_us_per_event": {"source": off, "home": None}, "gateways": 1}, members]
    return Experiment(
        f"federation growth, {entries:,} entries that do not match a lamp's update",
        figures,
        digest([told[0], f"useless {members['useless']}"]),
        digest([told[1], "useless 0"]),
        members={**members, "runs": runs},
    )


def _answers(entries: int) -> int:
    """Batches that say no more than what is in force: a first one, and one a version."""
    return 1 + -(-entries // _AT_ONCE)


def _entry(number: int) -> list[object]:
    return [f"<{CITY}elsewhere/{number}>", f"<{CITY}hasDimmingValue>", None, ""]


def _resident() -> int:
    """Bytes of this process that are in RAM; Linux only (proc_pid_statm(5))."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * resource.getpagesize()
