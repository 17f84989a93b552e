"""Segments for a benchmark: typical readings of many gateways, written as fast as gzip can.

`tools.fleet` knows the truth about every fault and takes its time for it. Here are only readings of
three kinds (a temperature, a contact, a counter), every 30 s if not told otherwise, no two alike,
and at every third seam of two segments one that overlaps both by a tenth, so that there is
something to be left out.
"""

import gzip
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np

from spark_batch.tools.fleet import BASE, UNIT, XSD

START = date(2026, 9, 1)
_START_US = 1_788_220_800_000_000
_INTERVAL_S = 30
_SENSORS = 20
_LINES = 100_000
_SEAM = 3
_A_DAY = _SENSORS * 86_400 // _INTERVAL_S
_YEAR_S = 365 * 86_400
_KINDS = (
    ("temperature", f'","d":"{XSD}decimal","u":"{UNIT}DEG_C"'),
    ("open", f'","d":"{XSD}boolean"'),
    ("energy", f'","d":"{XSD}integer","u":"{UNIT}W-HR"'),
)


@dataclass(frozen=True, slots=True)
class Load:
    """`observations` of so many gateways, or as many as it takes for about `days` days."""

    observations: int
    days: int = 3
    gateways: int | None = None
    interval_s: int = _INTERVAL_S

    @classmethod
    def of_a_year(cls, observations: int) -> Self:
        """About so many of one gateway, over a year at most."""
        interval_s = max(1, _YEAR_S * _SENSORS // observations)
        return cls(observations, gateways=1, interval_s=interval_s)

    def write(self, landing: Path) -> None:
        """Every segment; one process for each core."""
        usual = max(1, round(self.observations / (self.days * _A_DAY)))
        gateways = self.gateways or usual
        each = [(self.observations + number) // gateways for number in range(gateways)]
        lines = min(_LINES, self.observations // 20)
        write = partial(_write_gateway, landing, lines, self.interval_s)
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            for _ in pool.map(write, range(gateways), each):
                pass


def _write_gateway(
    landing: Path, size: int, interval_s: int, number: int, observations: int
) -> None:
    gateway, epoch = f"gw-{number:04d}", _START_US // 1_000_000 + number
    lines: list[str] = []
    for part, following in enumerate(_segments(number, observations, size, interval_s)):
        first, tenth = part * size + 1, size // 10
        if lines and (number + part) % _SEAM == 0:
            _seal(landing, gateway, epoch, first - tenth, lines[-tenth:] + following[:tenth])
        lines = following
        _seal(landing, gateway, epoch, first, lines)


def _segments(number: int, observations: int, most: int, interval_s: int) -> Iterator[list[str]]:
    chance = np.random.default_rng(number)
    heads = [_head(number, sensor) for sensor in range(_SENSORS)]
    counts = [0] * _SENSORS
    for start in range(0, observations, most):
        size = min(most, observations - start)
        index = np.arange(start, start + size)
        t = _START_US + index // _SENSORS * (interval_s * 1_000_000)
        t += chance.integers(0, 1_000_000, size)
        told = t + chance.integers(20_000, 3_000_000, size)
        warm, step = chance.normal(21, 2, size), chance.integers(0, 50, size)
        columns = (index + 1, index % _SENSORS, t, told, warm, step)
        yield [
            f'{{"q":{q},{heads[s][0]}{_value(s, degrees, watts, counts)}{heads[s][1]},'
            f'"t":{at},"i":{i}}}\n'
            for q, s, at, i, degrees, watts in zip(*(c.tolist() for c in columns), strict=True)
        ]


def _head(number: int, sensor: int) -> tuple[str, str]:
    """What stands before and behind the value in each line of a sensor."""
    house = f"urn:fleet:gw-{number:04d}"
    name, ending = _KINDS[sensor % 3]
    place = f'"s":"{house}:sensor:{sensor}","f":"{house}:room:{sensor % 5}"'
    return f'{place},"p":"urn:fleet:{name}","v":"', ending


def _value(sensor: int, degrees: float, watts: int, counts: list[int]) -> str:
    kind = sensor % 3
    if kind == 0:
        return f"{degrees:.2f}"
    if kind == 1:
        return "true" if watts < 25 else "false"
    counts[sensor] += watts
    return str(counts[sensor])


def _seal(landing: Path, gateway: str, epoch: int, first: int, lines: Sequence[str]) -> None:
    header = json.dumps(
        {"schema": "1.1", "gateway": gateway, "base": BASE, "epoch": epoch, "first": first}
    )
    content = gzip.compress("".join([header, "\n", *lines]).encode(), 6, mtime=0)
    sha12 = hashlib.sha256(content).hexdigest()[:12]
    folder = landing / gateway
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{gateway}-{epoch:08d}-{first:012d}-{len(lines)}-{sha12}.jsonl.gz"
    (folder / name).write_bytes(content)
