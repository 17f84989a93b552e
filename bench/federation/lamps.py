"""The city's lamps at one gateway, the 1,004 subscriptions at another: what an update costs both.

Place on the way of the data: two engines and two members in one process and thread, on Zenoh with
mutual TLS, so that the CPU time of the process is that of both; beside it one engine that has the
subscriptions itself. They take turns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, process_time

from pyoxigraph import Store

from bench.city.profile import Model, Profile, Update
from bench.city.streets import ROADS
from bench.city.ways import EngineByText, loaded, notified_rows
from bench.federation.certificates import certificates
from bench.federation.counting import CountingCarrier, Inbox
from bench.federation.told import federated
from bench.processes import free_port
from bench.report import Experiment, Figure, digest
from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.federation.carrier import Channel
from gateway.federation.member import Member
from gateway.federation.zenoh_carrier import Endpoints, TlsFiles, ZenohCarrier
from gateway.journal.record import Origin
from gateway.store.quad_store import QuadStore

SOURCE, HOME = "source", "home"
ROUNDS = 3
_PATIENCE_S = 60.0


class _Gateway:
    """A member with an engine, in this thread."""

    def __init__(self, name: str, other: str, store: QuadStore, endpoints: Endpoints) -> None:
        self.engine = Engine(store)
        self.engine.events.places.follow(Origin(name), 1, lambda: None)
        self.carrier = CountingCarrier(ZenohCarrier(name, [other], endpoints))
        self.member = Member(name, self.engine, self.carrier)
        self.engine.events.watcher = self.member.changed
        self.inbox = Inbox(self.member, self.carrier)

    def close(self) -> None:
        self.carrier.close()
        self.engine.close()


class _Apart:
    """The lamps at the source, the subscriptions at the home."""

    def __init__(self, profile: Profile, files: dict[str, TlsFiles]) -> None:
        at = {each: f"127.0.0.1:{free_port()}" for each in (SOURCE, HOME)}
        store = QuadStore(loaded(profile))
        source, home = (Endpoints((at[a],), (at[b],), files[a]) for a, b in _BOTH)
        self.source = _Gateway(SOURCE, HOME, store, source)
        self.home = _Gateway(HOME, SOURCE, QuadStore(Store()), home)
        self.told: list[tuple[int, Notification]] = []
        self._subscriptions = profile.subscriptions
        self._both = (self.source, self.home)
        self.until(lambda: HOME in self.source.member.heard, "the home is not heard")
        self.until(lambda: SOURCE in self.home.member.heard, "the source is not heard")
        asking = self.home.member.asking
        asked = [asking.ask(SubscribeRequest(each.select)) for each in profile.subscriptions]
        self.until(lambda: not any(map(asking.missing, asked)), "the source tells nothing")
        for number, each in enumerate(asked):
            asking.begin(each, partial(self._take, number))

    def _take(self, number: int, told: Notification) -> None:
        self.told.append((number, told))

    def until(self, is_so: Callable[[], bool], what: str) -> None:
        """Take what comes at both until it is so."""
        for each in self._both:
            each.member.flush()
        deadline = monotonic() + _PATIENCE_S
        while not is_so():
            for each in self._both:
                each.inbox.drain(0.001)
            if monotonic() > deadline:
                raise TimeoutError(what)

    def run(self, updates: Sequence[Update], rows: int) -> None:
        """So many updates, until so many rows were told."""
        self.told.clear()
        for update in updates:
            self.source.engine.update(update.text)
            for each in self._both:
                each.inbox.drain()
        self.source.engine.flush()
        self.until(lambda: self.count >= rows, "rows do not come")

    @property
    def count(self) -> int:
        """Rows told so far."""
        return sum(len(each.results.added) + len(each.results.removed) for _, each in self.told)

    def rows(self, updates: Sequence[Update]) -> Iterator[str]:
        """What the last run told, a row of `row_text` each."""
        by_road = {update.lamps.road: update for update in updates}
        for number, told in self.told:
            update = by_road[self._subscriptions[number].road]
            yield from notified_rows(update, number, told.results)

    def close(self) -> None:
        """End both."""
        for each in self._both:
            each.close()


_BOTH = ((SOURCE, HOME), (HOME, SOURCE))


def measure(roads: int = ROADS, rounds: int = ROUNDS) -> Experiment:
    """CPU of both gateways beside that of one that has lamps and subscriptions."""
    profile = Profile("lamp", roads)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="sosa-gateway-bench-")))
        apart = stack.enter_context(closing(_Apart(profile, certificates(folder, (SOURCE, HOME)))))
        alone = EngineByText(profile)
        alone.subscribe()
        model = Model(profile.subscriptions)
        spent: dict[str, list[float]] = {"alone": [], "apart": []}
        found, expected = [], []
        for turn in range(rounds + 1):
            updates = profile.updates(f"v{turn}")
            rows = list(model.rows(updates))
            begun = process_time()
            told = [(update, alone.step(update.text)) for update in updates]
            alone.finish()
            between = process_time()
            apart.run(updates, len(rows))
            ended = process_time()
            if turn:  # what is compiled once has been
                spent["alone"].append((between - begun) / len(updates) * 1e6)
                spent["apart"].append((ended - between) / len(updates) * 1e6)
            found += [f"{turn} {row}" for update, each in told for row in alone.rows(update, each)]
            found += [f"{turn} {row}" for row in apart.rows(updates)]
            expected += [f"{turn} {row}" for row in (*rows, *rows)]
        return _experiment(profile, spent, (found, expected), apart)


def _experiment(
    profile: Profile,
    spent: Mapping[str, Sequence[float]],
    rows: tuple[Sequence[str], Sequence[str]],
    apart: _Apart,
) -> Experiment:
    alone_us, apart_us = median(spent["alone"]), median(spent["apart"])
    found, expected = rows
    updates = len(profile.streets) * (len(spent["apart"]) + 1)
    sent, answered = apart.source.carrier.messages, apart.home.carrier.messages
    figures = (
        Figure("CPU, one gateway", alone_us, "µs/update"),
        Figure("CPU, source and home", apart_us, "µs/update"),
        Figure("both to one", apart_us / alone_us, "times", "2.5 wanted"),
    )
    members = federated(
        gateways=2,
        subscriptions=len(profile.subscriptions),
        events=updates,
        delivered=updates,
        cpu_us_per_event={"source": None, "home": None, "both": apart_us},
        messages={
            "announce": sent[Channel.NEEDS] + answered[Channel.NEEDS],
            "data": sent[Channel.DATA],
            "ack": answered[Channel.ACK],
            "recovered": sum(each.resyncs for each in apart.home.member.known.values()),
        },
        bytes_per_event=sum(apart.source.carrier.bytes.values()) / updates,
        tls=True,
    )
    return Experiment(
        f"federation delay, lamps here, {len(profile.subscriptions):,} subscriptions there",
        figures,
        digest(found),
        digest(expected),
        ("both in one process, on Zenoh with mutual TLS",),
        members=members,
    )
