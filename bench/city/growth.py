"""`growth`: what an update of one lamp costs with more subscriptions, and in a larger store.

Place on the way of the data: as `lamp`, by text. The paper's subscriptions and city are the
starting point; one thing grows at a time, each in a process of its own, and they take turns. What
a subscription takes is the growth of the process while it registers. Source: docs/engine.md,
"Performance model".
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from bench.city.profile import Profile
from bench.city.streets import ROADS
from bench.city.turns import Measured, Turn, rounds
from bench.report import Experiment, Figure, Outcome, Skipped, TableRow, digest

FINE = 100_000
COARSE = 40
TRIPLES = 10_000_000
ROUNDS = 3

_TRIPLE_BYTES = 600
"""What a triple takes in a store in memory, with room for loading it."""

Grown = Mapping[str, tuple[Profile, Measured]]


def measure(
    fine: int = FINE, coarse: int = COARSE, triples: int = TRIPLES, roads: int = ROADS
) -> Iterator[Outcome]:
    """So many fine subscriptions, coarse ones and triples, beside the paper's."""
    lacking = triples * _TRIPLE_BYTES - _free_bytes()
    if lacking > 0:
        yield Skipped(
            "growth", f"{triples:,} triples: {lacking / 1e9:.1f} GB lack; fewer: --triples"
        )
        return
    base = Profile("lamp", roads)
    has_fine = sum(lamps.post is not None for lamps in base.subscriptions)
    has_coarse = len(base.subscriptions) - has_fine
    profiles = {
        "base": base,
        "fine": replace(base, more_fine=max(fine - has_fine, 0)),
        "coarse": replace(base, more_coarse=max(coarse - has_coarse, 0)),
        "triples": replace(base, copies=max(triples // base.triples - 1, 0)),
    }
    with ExitStack() as children:
        bare = Turn("bare_store", base, children)
        turns = {name: Turn("engine_text", profile, children) for name, profile in profiles.items()}
        rounds([bare, *turns.values()], roads, ROUNDS)
    found = {name: (profile, turns[name].measured) for name, profile in profiles.items()}
    yield _experiment(found, bare.measured)


def _experiment(found: Grown, bare: Measured) -> Experiment:
    all_ = {**{name: measured for name, (_, measured) in found.items()}, "bare": bare}
    return Experiment(
        "growth",
        tuple(_figures(found, bare)),
        digest(f"{name} {row}" for name, each in all_.items() for row in each.told),
        digest(f"{name} {row}" for name, each in all_.items() for row in each.expected),
        ("updates of one lamp by text; registration and memory are those of each process",),
        table=tuple(_lines(found)),
    )


def _figures(found: Grown, bare: Measured) -> Iterator[Figure]:
    base = found["base"][1]
    for name in ("fine", "coarse", "triples"):
        yield Figure(f"cost, {name} / base", found[name][1].each_ms / base.each_ms, "times")
    for name in ("fine", "coarse"):
        profile, measured = found[name]
        more = len(profile.subscriptions) - len(found["base"][0].subscriptions)
        if more:
            grown = measured.ready["subscribed_bytes"] - base.ready["subscribed_bytes"]
            yield Figure(f"memory of a {name} subscription", grown / more, "bytes")
    registered = found["fine"][1].ready
    yield Figure("registration, fine", registered["subscribed_s"], "CPU s")
    yield Figure("memory, fine", registered["subscribed_bytes"] / 1e6, "MB")
    yield Figure("engine minus bare store", (base.memory - bare.memory) / 1e6, "MB")
    yield Figure("bare store", bare.memory / 1e6, "MB")


def _lines(found: Grown) -> Iterator[TableRow]:
    for name, (profile, measured) in found.items():
        yield {
            "grown": name,
            "subscriptions": len(profile.subscriptions),
            "triples": profile.triples,
            "CPU ms/update": measured.each_ms,
            "registered, CPU s": measured.ready["subscribed_s"],
            "memory, MB": measured.memory / 1e6,
        }


def _free_bytes() -> float:
    """What the system can give without swapping; where it does not say, enough."""
    meminfo = Path("/proc/meminfo")
    if not meminfo.exists():
        return float("inf")
    lines = meminfo.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
