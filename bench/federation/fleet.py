"""`fleet`: 4, 100 and 1,000 gateways of the product in one process, in simulated time by a seed.

Place on the way of the data: what a change of a subscription and an event cost as a federation
grows, then minutes in which gateways come and go and are cut off, after which every client must
have been told all, once, and every answer be that of one gateway with all data.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from bench.federation.simulated.clients import EventClient
from bench.federation.simulated.fleet import TICK_S, Fleet, Size
from bench.report import Experiment, Figure, digest
from gateway.federation.carrier import Channel

SIZES = (4, 100, 1_000)
SCOPE = 10
TOPOLOGIES = ("mesh", "hub")
SEED = 20
MINUTES = 2
CHURN = 0.01
"""This part of the gateways goes each minute."""
UPDATES = 200
"""A minute."""
QUIET = 20
_STEP_S = 1.0


def measure(gateways: Sequence[int] = SIZES, seed: int = SEED) -> Experiment:
    """Each size with each scope and topology."""
    sizes = [
        Size(count, scope, topology)
        for count in gateways
        for scope in sorted({min(SCOPE, count), count})
        for topology in TOPOLOGIES
    ]
    found, told, expected = [], list[str](), list[str]()
    for size in sizes:
        members, answers = measure_size(size, seed)
        found.append(members)
        told += (each for each, _ in answers)
        expected += (each for _, each in answers)
    return Experiment(
        "federation fleet",
        tuple(_figures(found)),
        digest((*told, *(_asserted(each) for each in found))),
        digest((*expected, *(_wanted(each) for each in found))),
        (
            f"simulated time by seed {seed}: {MINUTES} minutes, {CHURN:.0%} go each, half cut off",
            "asserted: messages of an event are the gateways it concerns, of a change scope - 1",
        ),
        [{name: each[name] for name in each if name != "wanted"} for each in found],
        {"sizes": [{name: each[name] for name in each if name != "wanted"} for each in found]},
    )


def measure_size(
    size: Size, seed: int = SEED, minutes: int = MINUTES, updates: int = UPDATES
) -> tuple[dict[str, Any], Sequence[tuple[str, str]]]:
    """The members of one size, `wanted` among them, and what clients were told and had to be."""
    fleet = Fleet(size, seed)
    client = EventClient(fleet.clients[0].home, "urn:one-more", fleet.clients[0].scope)
    announcements, announced = fleet.sent(Channel.NEEDS, lambda: fleet.subscribe(client))
    taken_back, _ = fleet.sent(Channel.NEEDS, lambda: fleet.unsubscribe(client))
    events = [_event(fleet) for _ in range(QUIET)]
    entries = fleet.entries()
    one_bytes = announced / announcements
    sessions = max(fleet.links.sessions(name) for name in fleet.names[1:])
    _live(fleet, minutes, updates)
    lost, doubled = fleet.faults()
    answers = list(fleet.answers())
    fleet.close()
    found = {
        "gateways": size.gateways,
        "scope": size.scope,
        "topology": size.topology,
        "announcements": announcements,
        "announcement_bytes": round(one_bytes),
        "entries": max(entries.values()),
        "summary_bytes": round(max(entries.values()) * one_bytes),
        "messages_per_event": sum(sent for sent, _ in events) / len(events),
        "flooding_per_event": size.gateways - 1,
        "sessions": sessions,
        "lost": lost,
        "doubled": doubled,
        "wanted": (
            size.scope - 1,
            taken_back,
            [sent for sent, _ in events],
            [n for _, n in events],
        ),
    }
    return found, answers


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
        for _ in range(max(1, round(len(names) * CHURN))):
            name, at_s = random.choice(names), 60 * (minute + random.random())
            yield at_s, "go", name
            yield at_s + random.uniform(5, 40), "come", name
        yield 60 * minute + 20, "split", names[0]
        yield 60 * minute + 45, "mend", names[0]


def _asserted(found: dict[str, Any]) -> str:
    """What has to be so, as it is."""
    _, taken_back, sent, _ = found["wanted"]
    faults = found["lost"], found["doubled"]
    return f"{found['announcements']} {taken_back} {sent} {faults}"


def _wanted(found: dict[str, Any]) -> str:
    """The same as it has to be."""
    change, _, _, reached = found["wanted"]
    return f"{change} {change} {reached} {(0, 0)}"


def _figures(found: Sequence[dict[str, Any]]) -> Iterator[Figure]:
    yield Figure("lost", sum(each["lost"] for each in found), "events")
    yield Figure("doubled", sum(each["doubled"] for each in found), "events")
