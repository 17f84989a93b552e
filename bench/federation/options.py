"""What `sosa-gateway bench federation` takes on the command line.

Place on the way of the data: between the command line and the parts of the benchmark.
"""

import argparse

from bench.federation import federation
from bench.federation.baselines import GRIDS, HOP_S
from bench.federation.fleet import SIZES
from bench.option_types import count, positive


def add_part(command: argparse.ArgumentParser) -> None:
    """One part or all, and what the parts of many gateways take."""
    command.add_argument(
        "part", nargs="?", choices=["all", *federation.PARTS], default="all", help="default: all"
    )
    text = "for baselines: some points, or the paper's, which take an hour (default: short)"
    command.add_argument("--grid", choices=list(GRIDS), default="short", help=text)
    text = f"for baselines: how long a hop takes (default: {HOP_S * 1000:g})"
    command.add_argument("--hop-ms", type=positive, default=HOP_S * 1000, metavar="MS", help=text)
    text = f"for fleet: once for each size (default: {' '.join(map(str, SIZES))})"
    command.add_argument(
        "--gateways", type=count, nargs="+", default=list(SIZES), metavar="N", help=text
    )


def add_events(command: argparse.ArgumentParser) -> None:
    """How many events a pair has."""
    default = federation.EVENTS
    text = f"of a run of a pair, for federation (default: {default:,})"
    command.add_argument("--events", type=count, default=default, metavar="N", help=text)


def plan(options: argparse.Namespace) -> federation.Plan:
    """What was asked; `bench all` has not all of these."""
    known = vars(options)
    names = ("part", "events", "roads", "grid", "gateways")
    wanted = {name: known[name] for name in names if name in known}
    if "hop_ms" in known:
        wanted["hop_s"] = known["hop_ms"] / 1000
    return federation.Plan(**wanted)
