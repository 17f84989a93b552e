"""`writes`: bytes that reach the disk for an observation, by the demo's house, and a year of them.

Place on the way of the data: all of it, in the demo's own process, with journal and store as every
gateway has them. At the speed of real time an observation mostly has an fsync of its own, which is
what costs a card. The file system's own writes are seen where `folder` is an ext4 that nobody else
writes to.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic

from bench.appliance.proc import file_system_bytes, written_bytes
from bench.processes import Child, free_port
from bench.readings.service import Service
from bench.report import Experiment, Figure, Outcome, digest

MINUTES, SPEED, RATED_TB = 10.0, 1.0, 29.0
_SETTLE_S = 15.0
_START_S = 60.0
_YEAR_S = 365.25 * 86_400
_GB, _TB = 1e9, 1e12


@dataclass(frozen=True, slots=True)
class Written:
    """What came and what was written in `seconds`; `file_system` is None where it is not known."""

    seconds: float
    counted: Mapping[str, float]
    process: int
    file_system: int | None


def measure(
    minutes: float = MINUTES,
    speed: float = SPEED,
    rated_tb: float = RATED_TB,
    folder: Path | None = None,
    fsync_interval_s: float = 0.0,
) -> Iterator[Outcome]:
    """The house of the demo for so long, `speed` times as fast as one lives in it.

    `fsync_interval_s` is that of [journal].
    """
    with ExitStack() as stack:
        place = folder or Path(
            stack.enter_context(TemporaryDirectory(prefix="sosa-gateway-bench-"))
        )
        written = _play(place, minutes * 60, speed, fsync_interval_s)
    yield Experiment(
        f"writes, the house at {speed:g} times real time, an fsync {_when(fsync_interval_s)}",
        tuple(_figures(written, rated_tb)),
        digest(_rows(written)),
        digest(["observed True", "failed 0"]),
        (f"a year as these {minutes:g} minutes; a card rated for {rated_tb:g} TB written",),
    )


def _play(place: Path, seconds: float, speed: float, fsync_interval_s: float) -> Written:
    http = free_port()
    toml = place / "bench.toml"
    ports = (("http", http), ("mqtt", free_port()), ("websocket", free_port()))
    text = "".join(f"[{name}]\nport = {port}\n" for name, port in ports)
    text += f"[journal]\nfsync_interval_s = {fsync_interval_s}\n"
    toml.write_text(text, encoding="utf-8")
    command = ["env", f"TMPDIR={place}", sys.executable, "-m", "gateway", "demo", "--plain"]
    with Child("demo", [*command, "--speed", f"{speed:g}", "--config", str(toml)]) as child:
        service = Service(child, ports[1][1], f"http://127.0.0.1:{http}", "")
        _wait_started(service)
        Event().wait(_SETTLE_S)
        return _watched(service, place, seconds)


def _when(fsync_interval_s: float) -> str:
    return f"in {fsync_interval_s:g} s at most" if fsync_interval_s else "before each PUBACK"


def _wait_started(service: Service) -> None:
    end = monotonic() + _START_S
    while True:
        try:
            if service.counters()["observations"] > 0:
                return
        except OSError:
            if monotonic() > end:
                raise
        Event().wait(0.5)


def _watched(service: Service, place: Path, seconds: float) -> Written:
    pid, begin = service.child.pid, monotonic()
    before, bytes_before = service.counters(), written_bytes(pid)
    disk_before = file_system_bytes(place)
    Event().wait(seconds)
    after, process = service.counters(), written_bytes(pid) - bytes_before
    disk = file_system_bytes(place)
    counted = {name: value - before.get(name, 0.0) for name, value in after.items()}
    of_disk = None if disk is None or disk_before is None else disk - disk_before
    return Written(monotonic() - begin, counted, process, of_disk)


def _rows(written: Written) -> list[str]:
    counted = written.counted
    return [
        f"observed {counted['observations'] > 0}",
        f"failed {counted['observations_failed']:g}",
    ]


def _figures(written: Written, rated_tb: float) -> Iterator[Figure]:
    observations = max(1.0, written.counted["observations"])
    rate = observations / written.seconds
    yield Figure("observations", observations)
    yield Figure("rate", rate, "observations/s")
    yield Figure(
        "journal", written.counted["journal_written_bytes"] / observations, "bytes/observation"
    )
    yield Figure(
        "fsyncs of the journal", written.counted["journal_syncs"] / observations, "1/observation"
    )
    yield from _year("the process", written.process, written, rated_tb)
    if written.file_system is not None:
        yield from _year("the file system", written.file_system, written, rated_tb)


def _year(who: str, count: int, written: Written, rated_tb: float) -> Iterator[Figure]:
    a_year = count / written.seconds * _YEAR_S
    observations = max(1.0, written.counted["observations"])
    yield Figure(f"{who} writes", count / observations, "bytes/observation")
    yield Figure(f"{who} in a year", a_year / _GB, "GB")
    years = rated_tb * _TB / a_year if a_year else float("inf")
    yield Figure(f"{who}: years until the rating", min(years, 1e6))
