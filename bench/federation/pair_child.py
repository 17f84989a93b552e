"""One of a pair of gateways: `python -m bench.federation.pair_child JSON`.

Place on the way of the data: the source has events in memory and tells them as fast as the home
acknowledges; the home has the queries of its clients, and makes rows. Both are members over Zenoh
with mutual TLS. Each says as JSON what it did, and its CPU time from the first event on.
"""

import gc
import json
import sys
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from time import monotonic_ns, process_time, time_ns
from typing import Any

from pyoxigraph import Quad, RdfFormat, parse, serialize

from bench.federation.chains import GATEWAY, chain_query, event, events, row_text
from bench.federation.counting import CountingCarrier, Inbox
from bench.processes import Child, python_child
from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.engine.spu import EVENT
from gateway.federation.carrier import Channel
from gateway.federation.member import Member
from gateway.federation.zenoh_carrier import Endpoints, TlsFiles, ZenohCarrier
from gateway.journal.record import Origin

HOME = "home"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: where it listens and dials, its certificate, how much there is to do."""

    role: str
    listen: str
    connect: str
    tls: Mapping[str, str]
    queries: int
    events: int
    runs: int

    def child(self) -> Child:
        """The process that does it."""
        return python_child(self.role, "bench.federation.pair_child", json.dumps(asdict(self)))


class _Gateway:
    """A member with a carrier of its own, for this thread."""

    def __init__(self, side: Side) -> None:
        other = HOME if side.role == GATEWAY else GATEWAY
        endpoints = Endpoints((side.listen,), (side.connect,), TlsFiles(**side.tls))
        self.carrier = CountingCarrier(ZenohCarrier(side.role, [other], endpoints))
        self.engine = Engine.open()
        self.engine.events.places.follow(Origin(side.role), 1, lambda: None)
        self.member = Member(side.role, self.engine, self.carrier)
        self.inbox = Inbox(self.member, self.carrier)
        self.inbox.until(lambda: other in self.member.heard, f"{other} is not heard")

    def close(self) -> None:
        self.carrier.close()
        self.engine.close()

    def counted(self) -> Mapping[str, Any]:
        """What was sent, by channel, and what was missed."""
        return {
            "messages": {each.value: self.carrier.messages[each] for each in Channel},
            "bytes": sum(self.carrier.bytes.values()),
            "resyncs": sum(each.resyncs for each in self.member.known.values()),
        }


def _source(side: Side) -> None:
    """Tell all events, run after run, each when the home is ready."""
    made = _Gateway(side)
    stated = list(events(side.events, side.queries))
    bare_us = _bare_us(stated)
    streams = made.member.streams

    def is_ready() -> bool:
        told = streams.get(HOME)
        is_asked = told is not None and told.event_queries == side.queries
        return told is not None and is_asked and not told.stream.is_awaited

    made.inbox.until(is_ready, "the home asks for nothing")
    _say({"ready": True, "bare_us": bare_us})
    for run in range(side.runs):
        if not sys.stdin.readline():
            break
        _say(_told(made, stated, run))
    made.close()


def _bare_us(stated: Sequence[Sequence[Quad]]) -> float:
    """CPU of an event that is but written as N-Quads and read again, µs: what the machine does."""
    quads = [quad for each in stated for quad in each]
    begun = process_time()
    text = serialize(quads, format=RdfFormat.N_QUADS)
    deque(parse(text, format=RdfFormat.N_QUADS), maxlen=0)
    return (process_time() - begun) / len(stated) * 1e6


def _told(made: _Gateway, stated: Sequence[Sequence[Quad]], run: int) -> Mapping[str, Any]:
    member, inbox = made.member, made.inbox
    first = run * len(stated)
    stream = member.streams[HOME].stream
    begun, cpu_s = monotonic_ns(), process_time()
    for number, quads in enumerate(stated, start=first):
        member.happened(event(number, quads, time_ns() // 1000))
        while not stream.has_room:
            inbox.drain(0.01)
        inbox.drain()
    inbox.until(lambda: not stream.is_awaited, "the home acknowledges nothing")
    return {"begun": begun, "cpu_s": process_time() - cpu_s, **made.counted()}


def _home(side: Side) -> None:
    """Take rows until all of a run are there."""
    made = _Gateway(side)
    rows: Counter[str] = Counter()
    last = 0

    def take(notification: Notification) -> None:
        nonlocal last
        for row in notification.results.added:
            rows[row[place].value] += 1  # type: ignore[union-attr]
            last = monotonic_ns()

    place, wanted = 0, []
    for query in range(side.queries):
        request = SubscribeRequest(chain_query(query), mode=EVENT)
        asked = made.member.ask_events(request, take)
        first = made.member.begin_events(asked)
        place = first.results.variables.index("n0")
        wanted.append(asked)
    made.inbox.until(lambda: not any(map(made.member.missing_events, wanted)), "no events come")
    _say({"ready": True})
    for _ in range(side.runs):
        rows.clear()
        cpu_s = process_time()
        made.inbox.until(lambda: len(rows) >= side.events, "events do not come")
        spent_s = process_time() - cpu_s
        seen = asdict(made.member.known[GATEWAY].events.counts)
        told = {"last": last, "cpu_s": spent_s, **_compared(rows, side.events)}
        _say({**told, **seen, **made.counted()})
    sys.stdin.readline()
    made.close()


def _compared(rows: Counter[str], events: int) -> dict[str, int]:
    """The rows that came beside one for each event."""
    expected = {row_text(number) for number in range(events)}
    return {
        "delivered": sum(rows.values()),
        "lost": len(expected - rows.keys()),
        "doubled": sum(count - 1 for count in rows.values()),
        "foreign": len(rows.keys() - expected),
    }


def _say(members: Mapping[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(members)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    gc.set_threshold(20_000, 10, 500)  # as a gateway has it
    _side = Side(**json.loads(sys.argv[1]))
    (_source if _side.role == GATEWAY else _home)(_side)
