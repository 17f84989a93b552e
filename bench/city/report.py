"""What `lamp` and `road` report: our figures beside the paper's, each way's cost beside the rest.

Place on the way of the data: after experiments.py has let every way take its turns.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bench.city.paper import PAPER
from bench.city.profile import Profile
from bench.city.turns import Measured
from bench.report import Experiment, Figure, digest

_KPIS = {
    "ups": ("Ups", "1/s"),
    "sps": ("Sps", "1/s"),
    "tps": ("Tps", "1/s"),
    "nl_min_ms": ("NLmin", "ms"),
    "nl_max_ms": ("NLmax", "ms"),
    "e2e": ("E2E", "times"),
}


def report(profile: Profile, found: Mapping[str, Measured], rounds: int) -> Experiment:
    """The experiment, its reference being what the model expects of every way."""
    members = _members(profile, found, rounds)
    return Experiment(
        profile.name,
        tuple(_figures(profile, found, members)),
        digest([*_rows(found, "told"), _counts(members), *_columns(members["lutt_hits"])]),
        digest(
            [
                *_rows(found, "expected"),
                _expected_counts(profile),
                *_columns([rounds * hits for hits in profile.lutt_columns()]),
            ]
        ),
        (
            f"in memory, CPU time, rounds: {rounds}; every text is new to the engine",
            "naive: ask all subscriptions again and compare; clips: rules by hand, ready-made"
            " changes as facts, or (clips_text) as their text, no SPARQL;"
            " lutt_off: every SPU receives every Delta",
        ),
        members=members,
    )


def _rows(found: Mapping[str, Measured], which: str) -> Iterator[str]:
    return (f"{way} {row}" for way, each in found.items() for row in getattr(each, which))


def _counts(members: Mapping[str, Any]) -> str:
    rate = members["lutt_hit_rate_percent"]
    return f"{members['notifications']:g} notifications, hit rate {rate:.2f} %"


def _columns(hits: Sequence[int]) -> Iterator[str]:
    """The LUTT matrix, summed by subscription."""
    return (f"LUTT of {number}: {count}" for number, count in enumerate(hits))


def _expected_counts(profile: Profile) -> str:
    """The paper's on the whole city; on a part of it, those of the definition."""
    if profile.is_whole:
        paper = PAPER[profile.name]
        return f"{paper.notifications} notifications, hit rate {paper.hit_rate} %"
    pairs = profile.roads * len(profile.subscriptions)
    rate = 100 * sum(profile.lutt_columns()) / pairs
    return f"{profile.notifications()} notifications, hit rate {rate:.2f} %"


def _members(profile: Profile, found: Mapping[str, Measured], rounds: int) -> Mapping[str, Any]:
    text, bare = found["engine_text"], found["bare_store"]
    own = found["engine_measured"].performance
    return {
        "updates": profile.roads,
        "subscriptions": len(profile.subscriptions),
        "notifications": _notifications(text.told) / rounds,
        "triples_per_update": own["triples_per_update"],
        "lutt_hit_rate_percent": own["lutt_hit_rate_percent"],
        "lutt_hits": own["lutt_hits"],
        "kpi": own["kpi"],
        "e2e_raw": (text.each_ms - bare.each_ms) / bare.each_ms,
        "components_ms": own["components_ms"],
        "cpu_ms_per_update": {way: found[way].each_ms for way in found},
        "memory_bytes": {
            **{way: found[way].memory for way in found},
            "engine_minus_bare_store": text.memory - bare.memory,
        },
        "paper": dict(PAPER[profile.name].kpi),
    }


def _notifications(rows: Iterable[str]) -> int:
    """The rows of one update for one subscription, in one round, are one notification."""
    return len({(*row.split(maxsplit=2)[:2], row.rpartition(" ")[2]) for row in rows})


def _figures(
    profile: Profile, found: Mapping[str, Measured], members: Mapping[str, Any]
) -> Iterator[Figure]:
    paper = PAPER[profile.name]
    yield Figure("subscriptions", members["subscriptions"])
    yield Figure("updates", members["updates"], "", "in each round")
    yield Figure("triples an update", members["triples_per_update"], "", f"paper {paper.triples}")
    yield Figure("notifications", members["notifications"], "", f"paper {paper.notifications}")
    yield Figure(
        "LUTT hit rate", members["lutt_hit_rate_percent"], "%", f"paper {paper.hit_rate} %"
    )
    for key, (name, unit) in _KPIS.items():
        yield Figure(name, members["kpi"][key], unit, f"paper {paper.kpi[key]:,g}")
    yield Figure("E2E_raw", members["e2e_raw"], "times")
    for name, spent in members["components_ms"].items():
        yield Figure(f"T_{name.upper()}", spent, "ms/update")
    yield from _comparison(found, paper.lutt_ratio)
    yield Figure("memory, engine", found["engine_text"].memory / 1e6, "MB")
    yield Figure("memory, bare store", found["bare_store"].memory / 1e6, "MB")


def _comparison(found: Mapping[str, Measured], lutt_ratio: float) -> Iterator[Figure]:
    ours = found["engine_text"].each_ms
    for way, each in found.items():
        updates = sum(cost.updates for cost in each.rounds)
        yield Figure(way, each.each_ms, "CPU ms/update", f"{updates} updates")
    if "clips" in found:
        yield Figure("engine_text / clips", ours / found["clips"].each_ms, "times")
        yield Figure("engine_text / clips_text", ours / found["clips_text"].each_ms, "times")
        template = found["engine_template"].each_ms
        yield Figure("engine_template / clips", template / found["clips"].each_ms, "times")
    yield Figure("engine_text / bare_store", ours / found["bare_store"].each_ms, "times")
    yield Figure("naive / engine_text", found["naive"].each_ms / ours, "times")
    off = found["lutt_off"].each_ms / ours
    yield Figure("lutt_off / engine_text", off, "times", f"paper {lutt_ratio:g}, estimated")
