"""A stream that begins again sends what differs, and is one step for who subscribes."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from time import process_time

import pytest

from gateway.engine import Engine, SubscribeRequest
from gateway.federation.carrier import Channel, Received
from gateway.federation.digests import digest_of, digests
from gateway.federation.entries import entries_of
from gateway.federation.loopback import LoopbackNet
from gateway.federation.member import Member
from gateway.federation.replica import own_quad
from gateway.federation.wire import Batch, own_label
from gateway.journal.record import Origin
from tests.kit.gateways import Watch

PREDICATES = 100


class Pair:
    """A source with quads of so many predicates, and a home that wants them."""

    def __init__(self, quads: int) -> None:
        self.net = LoopbackNet(Random(1))
        self.engines: dict[str, Engine] = {}
        self.members: dict[str, Member] = {}
        self.quads_sent = 0
        for name in ("source", "home"):
            engine = self.engines[name] = Engine.open()
            engine.events.places.follow(Origin(name), 1, lambda: None)
        self.engines["source"].update(
            "INSERT DATA { "
            + " ".join(f"<urn:s{n}> <urn:p{n % PREDICATES}> {n} ." for n in range(quads))
            + " }"
        )
        for name, engine in self.engines.items():
            member = self.members[name] = Member(name, engine, self.net.carrier(name))
            engine.events.watcher = member.changed
            member.start()
        self.net.run()

    def subscribe(self, told: Watch) -> None:
        home = self.members["home"]
        patterns = " UNION ".join(f"{{ ?s <urn:p{n}> ?v }}" for n in range(PREDICATES))
        asked = home.ask(SubscribeRequest(f"SELECT ?v {{ {patterns} }}"))
        self.net.run()
        assert not home.missing(asked)
        told(home.begin(asked, told))

    def again(self) -> int:
        """Cut and mend the link; how many quads were sent for that."""
        sent = 0
        deliver = self.members["home"].receive

        def count(message: Received) -> None:
            nonlocal sent
            if message.channel is Channel.DATA:
                sent += sum(part.size for part in Batch.decode(message.payload).parts)
            deliver(message)

        self.members["home"].receive = count  # type: ignore[method-assign]
        self.net.mend("source", "home")
        for _ in range(3):
            self.net.run()
            self.members["source"].tick()
        self.net.run()
        self.members["home"].receive = deliver  # type: ignore[method-assign]
        return sent


@contextmanager
def pair(quads: int) -> Iterator[Pair]:
    made = Pair(quads)
    yield made
    for engine in made.engines.values():
        engine.close()


async def test_of_what_is_the_same_nothing_is_sent_again() -> None:
    told = Watch()
    with pair(2_000) as made:
        made.subscribe(told)
        assert len(told.answer) == 2_000
        made.net.cut("source", "home")
        assert made.again() == 0
        made.net.cut("source", "home")
        change = "DELETE DATA { <urn:s7> <urn:p7> 7 } ; INSERT DATA { <urn:new> <urn:p7> 70000 }"
        made.engines["source"].update(change)
        before = len(told.notifications)
        assert made.again() == 2_000 // PREDICATES
        assert len(told.notifications) == before + 1
        assert told.notifications[-1].federation is not None
        assert told.notifications[-1].federation.merged
        assert len(told.notifications[-1].results.added) == 1
        assert len(told.notifications[-1].results.removed) == 1


def test_digests_are_those_of_the_other_end() -> None:
    """By entry, whatever the order, with blank nodes that have another label at the home."""
    engine = Engine.open()
    engine.update("INSERT DATA { _:b <urn:p> 1 . <urn:s> <urn:p> 2 . <urn:s> <urn:q> _:b }")
    quads = list(engine.store.match(None, None, None, None))
    seen = [own_quad(quad, "attic") for quad in reversed(quads)]
    entries = sorted(entries_of("SELECT * { ?s <urn:p> ?x . ?x <urn:q> ?y }"), key=str)
    found = digests(seen, entries, own_label("attic"))
    for number, entry in enumerate(entries):
        own = [quad for quad in quads if quad.predicate == entry.predicate]
        assert found[number] == digest_of(own)
        assert found[number] != digest_of(own[1:])
    engine.close()


@pytest.mark.slow
async def test_a_hundred_thousand_quads_of_which_a_few_changed() -> None:
    told = Watch()
    with pair(100_000) as made:
        made.subscribe(told)
        made.net.cut("source", "home")
        change = " ".join(
            f"<urn:s{n}> <urn:p{n % PREDICATES}> {n} ." for n in range(0, 100_000, 100)
        )
        made.engines["source"].update(f"DELETE DATA {{ {change} }}")
        begun = process_time()
        made.again()
        assert process_time() - begun < 10.0
        assert len(told.answer) == 99_000
