"""The benchmarks that `all` leaves out: they need a browser, much time or a folder to go on in."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from bench.appliance import device, soak, writes
from bench.benchmark import Benchmark
from bench.history import history
from bench.option_types import count, positive
from bench.page import page
from bench.report import Outcome


def _add_page(command: argparse.ArgumentParser) -> None:
    for name, default, what in (
        ("--streams", page.STREAMS, "streams that are shown"),
        ("--rate", page.RATE, "readings a second"),
        ("--memory-seconds", page.MEMORY_S, "how long the heap is looked at"),
        ("--crowd", page.CROWD, "streams that are too many to draw"),
    ):
        text = f"{what} (default: {default:,})"
        command.add_argument(name, type=count, default=default, metavar="N", help=text)


def _add_device(command: argparse.ArgumentParser) -> None:
    text = f"at rest, and under load (default: {device.SECONDS})"
    command.add_argument("--seconds", type=count, default=device.SECONDS, metavar="S", help=text)


def _add_writes(command: argparse.ArgumentParser) -> None:
    for name, default, what in (
        ("--minutes", writes.MINUTES, "how long"),
        ("--speed", writes.SPEED, "times real time"),
        ("--rated-tb", writes.RATED_TB, "TB written that a card is rated for"),
    ):
        text = f"{what} (default: {default:g})"
        command.add_argument(name, type=positive, default=default, metavar="N", help=text)
    text = "[journal] fsync_interval_s (default: 0)"
    command.add_argument("--fsync-interval", type=positive, default=0.0, metavar="S", help=text)
    text = "an ext4 of its own tells what its journal adds (default: a temporary folder)"
    command.add_argument("--folder", type=Path, metavar="DIR", help=text)


def _add_soak(command: argparse.ArgumentParser) -> None:
    text = "where data and parts are kept; given again, the next part goes on"
    command.add_argument("--folder", type=Path, required=True, metavar="DIR", help=text)
    for name, default, what in (
        ("--readings", soak.READINGS, "of all parts"),
        ("--part-seconds", soak.PART_S, "at most for this part"),
    ):
        text = f"{what} (default: {default:,})"
        command.add_argument(name, type=count, default=default, metavar="N", help=text)


def _add_history(command: argparse.ArgumentParser) -> None:
    text = f"of the archive that is made (default: {history.OBSERVATIONS:,})"
    command.add_argument(
        "--observations", type=count, default=history.OBSERVATIONS, metavar="N", help=text
    )
    text = f"of each case (default: {history.WALKS})"
    command.add_argument("--walks", type=count, default=history.WALKS, metavar="N", help=text)
    text = "an archive that is there, instead of one that is made"
    command.add_argument("--archive", type=Path, metavar="DIR", help=text)


def _page(options: argparse.Namespace) -> Iterator[Outcome]:
    return page.measure(options.streams, options.rate, options.memory_seconds, options.crowd)


def _device(options: argparse.Namespace) -> Iterator[Outcome]:
    return device.measure(options.seconds)


def _writes(options: argparse.Namespace) -> Iterator[Outcome]:
    return writes.measure(
        options.minutes,
        options.speed,
        options.rated_tb,
        options.folder,
        options.fsync_interval,
    )


def _soak(options: argparse.Namespace) -> Iterator[Outcome]:
    return soak.measure(options.folder, options.readings, options.part_seconds)


def _history(options: argparse.Namespace) -> Iterator[Outcome]:
    return history.measure(options.observations, options.walks, options.archive)


APART = (
    Benchmark("page", "the web page under load, in Chromium; 15 minutes", _page, (_add_page,)),
    Benchmark(
        "device",
        "one core, 512 MB: at rest, and 200 readings/s; 3 minutes",
        _device,
        (_add_device,),
    ),
    Benchmark("writes", "what the demo writes to a card; 10 minutes", _writes, (_add_writes,)),
    Benchmark(
        "history", "a year of a stream out of an archive; 20 minutes", _history, (_add_history,)
    ),
    Benchmark("soak", "10 million readings, in parts of 2 hours", _soak, (_add_soak,)),
)
