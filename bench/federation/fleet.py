"""`fleet`: 4, 100 and 1,000 gateways of the product in one process, in simulated time by a seed.

Place on the way of the data: what a change of a subscription and an event cost as a federation
grows, then minutes in which gateways come and go and are cut off, after which every client must
have been told all, once, and every answer be that of one gateway with all data.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import Any

from bench.federation.simulated.clients import EventClient
from bench.federation.simulated.fleet import TICK_S, Fleet, Size
from bench.report import Experiment, Figure, digest
from gateway.federation.carrier import Channel

SIZES = (4, 100, 1_000)
SCOPE = 10
TOPOLOGIES = ("mesh", "hub")
SEED = 20
MINUTES = 1
CHURN = 0.01
"""This part of the gateways goes each minute."""
UPDATES = 200
"""A minute."""
QUIET = 20


@dataclass(frozen=True, slots=True)
class Counted:
    """What one size has shown.

    A change of a subscription was so many `announcements`, and one `taken_back` as many; `events`
    have their messages and the gateways that they concern. `answers` are what each client was told
    and what it had to be.
    """

    size: Size
    announcements: int
    taken_back: int
    announcement_bytes: float
    entries: int
    events: Sequence[tuple[int, int]]
    sessions: int
    lost: int
    doubled: int
    answers: Sequence[tuple[str, str]]

    def members(self) -> dict[str, Any]:
        """As `--json` has it; `entries` and `summary_bytes` are those of the gateway with most."""
        return {
            "gateways": self.size.gateways,
            "scope": self.size.scope,
            "topology": self.size.topology,
            "announcements": self.announcements,
            "announcement_bytes": round(self.announcement_bytes),
            "entries": self.entries,
            "summary_bytes": round(self.entries * self.announcement_bytes),
            "messages_per_event": fmean(sent for sent, _ in self.events),
            "flooding_per_event": self.size.gateways - 1,
            "sessions": self.sessions,
            "lost": self.lost,
            "doubled": self.doubled,
        }

    def found(self) -> Iterator[str]:
        """What is asserted, as it is."""
        yield f"{self.announcements} {self.taken_back} {self.lost} {self.doubled}"
        yield f"{[sent for sent, _ in self.events]}"
        yield from (told for told, _ in self.answers)

    def wanted(self) -> Iterator[str]:
        """The same, as it has to be."""
        yield f"{self.size.scope - 1} {self.size.scope - 1} 0 0"
        yield f"{[reached for _, reached in self.events]}"
        yield from (expected for _, expected in self.answers)


def measure(gateways: Sequence[int] = SIZES, seed: int = SEED) -> Experiment:
    """Each size with each scope and topology."""
    sizes = [
        Size(count, scope, topology)
        for count in gateways
        for scope in sorted({min(SCOPE, count), count})
        for topology in TOPOLOGIES
    ]
    found = [counted(size, seed) for size in sizes]
    members = [each.members() for each in found]
    return Experiment(
        "federation fleet",
        (
            Figure("lost", sum(each.lost for each in found), "events"),
            Figure("doubled", sum(each.doubled for each in found), "events"),
            Figure("clients", sum(len(each.answers) for each in found)),
        ),
        digest(line for each in found for line in each.found()),
        digest(line for each in found for line in each.wanted()),
        (
            f"simulated time by seed {seed}: {MINUTES} minute, {CHURN:.0%} go, half are cut off",
            "asserted: messages of an event are the gateways it concerns, of a change scope - 1",
        ),
        members,
        {"sizes": members},
    )


def counted(
    size: Size, seed: int = SEED, minutes: int = MINUTES, updates: int = UPDATES
) -> Counted:
    """Count with nothing else under way, then have minutes of misfortunes."""
    fleet = Fleet(size, seed)
    client = EventClient(fleet.clients[0].home, "urn:one-more", fleet.clients[0].scope)
    announcements, announced = fleet.sent(Channel.NEEDS, lambda: fleet.subscribe(client))
    taken_back, _ = fleet.sent(Channel.NEEDS, lambda: fleet.unsubscribe(client))
    events = [_event(fleet) for _ in range(QUIET)]
    entries = max(fleet.entries().values())
    sessions = max(fleet.links.sessions(name) for name in fleet.names[1:])
    _live(fleet, minutes, updates)
    lost, doubled = fleet.faults()
    answers = tuple(fleet.answers())
    fleet.close()
    each = announced / announcements
    return Counted(
        size, announcements, taken_back, each, entries, events, sessions, lost, doubled, answers
    )


def _event(fleet: Fleet) -> tuple[int, int]:
    """The messages of an event, and how many gateways it concerns."""
    name = fleet.random.choice(fleet.names)
    reached = list[int]()
    messages, _ = fleet.sent(Channel.DATA, lambda: reached.append(fleet.say(name)))
    return messages, reached[0]


def _live(fleet: Fleet, minutes: int, updates: int) -> None:
    """Minutes with changes, gateways that come and go, and a part that is cut off for a while."""
    random, names = fleet.random, fleet.names
    due = sorted(_plan(fleet, minutes, updates), key=lambda each: each[0])
    begun, ticked = fleet.net.now, fleet.net.now
    for at_s, what, name in due:
        fleet.net.run(begun + at_s)
        while fleet.net.now - ticked >= TICK_S:
            ticked += TICK_S
            fleet.tick()
        is_up = fleet.gateways[name].member is not None
        match what:
            case "update" if is_up:
                fleet.say(name)
                fleet.change(name)
            case "go" if is_up:
                fleet.go(name)
            case "come" if not is_up:
                fleet.come(name)
            case "split":
                fleet.links.split(random.sample(names[1:], (len(names) - 1) // 2))
            case "mend":
                fleet.links.mend()
            case _:
                pass
    fleet.links.mend()
    for name in names:
        if fleet.gateways[name].member is None:
            fleet.come(name)
    fleet.settle()


def _plan(fleet: Fleet, minutes: int, updates: int) -> Iterator[tuple[float, str, str]]:
    """When what happens to whom, in seconds."""
    random: Random = fleet.random
    names = fleet.names
    for minute in range(minutes):
        for _ in range(updates):
            yield 60 * (minute + random.random()), "update", random.choice(names)
        for _ in range(max(2, round(len(names) * CHURN))):
            name, at_s = random.choice(names), 60 * (minute + random.random())
            yield at_s, "go", name
            yield at_s + random.uniform(5, 40), "come", name
        yield 60 * minute + 20, "split", names[0]
        yield 60 * minute + 45, "mend", names[0]
