"""`bench history`: a year by day, a month by hour, a month by minute, out of an archive.

    GET /streams/{id}/history, page by page -> one walk -> its time, and whether buckets are right

Place on the way of the data: HTTP, the pool of queries, the process of archives, and back, of a
gateway whose streams are those of the archive and that does nothing else. Each case has a gateway
of its own, so that its first walk finds nothing open or remembered.
"""

import http.client
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from adapters.values.observation import XSD, Observation, StreamKey
from bench.history.archived import DAY_MS, Archived, Window, make_archive, row_text
from bench.readings.service import Service, running_service, service_config
from bench.report import Experiment, Figure, Outcome, digest, percentile
from gateway.config.archive import ArchiveSettings
from gateway.ingest.sosa import stream_id
from gateway.journal import Journal, JournalLimits, Origin, Record

OBSERVATIONS = 20_000_000
WALKS = 40
_MINUTE_MS = 60_000
_SEED = 24
_MOST = 1000
_ASK_S = 300.0


@dataclass(frozen=True, slots=True)
class Case:
    """Walks over so many days in buckets so long, and in how many ms 95 of 100 are to be done."""

    name: str
    days: int
    every_ms: int
    wanted_ms: int | None = None


CASES = (
    Case("a year by day", 365, DAY_MS, 300),
    Case("a month by hour", 30, 3_600_000),
    Case("a month by minute", 30, _MINUTE_MS, 1000),
)


@dataclass(frozen=True, slots=True)
class Walk:
    """All pages of one history: seconds of wall and CPU time, and its buckets."""

    wall_s: float
    cpu_s: float
    pages: int
    rows: list[str]


def measure(observations: int, walks: int, folder: Path | None) -> Iterator[Outcome]:
    """One experiment a case, on an archive that is there or is made."""
    with TemporaryDirectory(prefix="sosa-gateway-bench-") as made:
        if folder is None:
            folder = Path(made, "archive")
            make_archive(observations, folder)
        archived = Archived(folder)
        for number, case in enumerate(CASES):
            own = Path(made, str(number))
            own.mkdir()
            yield _measured(case, archived, walks, own)


def _measured(case: Case, archived: Archived, walks: int, folder: Path) -> Experiment:
    chance = Random(_SEED)  # noqa: S311  # which streams and windows
    config = service_config(folder, None)
    config = config.model_copy(
        update={
            "gateway": config.gateway.model_copy(update={"id": archived.gateway}),
            "archive": ArchiveSettings(path=str(archived.folder)),
        }
    )
    _tell_streams(archived, folder / "data" / "journal")
    found: list[Walk] = []
    expected: list[str] = []
    with running_service(config) as service:
        for _ in range(walks):
            stream, window = chance.choice(archived.streams), _window(case, archived.span, chance)
            found.append(_walk(service, stream, window, case.every_ms))
            expected += archived.buckets(stream, window, case.every_ms)
    return _experiment(case, archived, found, expected)


def _window(case: Case, span: Window, chance: Random) -> Window:
    """Any such days; the last ones, where there are no more."""
    days = (span.high - span.low) // DAY_MS
    low = span.high - case.days * DAY_MS - DAY_MS * chance.randint(0, max(0, days - case.days))
    return Window(low, low + case.days * DAY_MS)


def _tell_streams(archived: Archived, journal: Path) -> None:
    """A reading of each stream, by which the gateway knows it, behind all that is asked for."""
    came = datetime.fromtimestamp(archived.span.high // 1000, UTC)
    with Journal(journal, Origin(archived.gateway), JournalLimits()) as written:
        for stream in archived.streams:
            position = written.next_position()
            reading = Observation(*stream, "true", f"{XSD}boolean", None, None, None)
            written.append([Record(position, position.sequence, reading, came, "")])
        written.sync()


def _walk(service: Service, stream: StreamKey, window: Window, every_ms: int) -> Walk:
    path = f"/streams/{stream_id(stream)}/history?from={window.low}&to={window.high}"
    path += f"&every={every_ms // 1000}&limit={_MOST}"
    rows: list[str] = []
    pages, after = 0, ""
    used, started = _cpu_s(service.child.pid), perf_counter()
    server = service.http_url.removeprefix("http://")
    with closing(http.client.HTTPConnection(server, timeout=_ASK_S)) as connection:
        while after or not pages:
            page = _page(connection, path + (f"&after={after}" if after else ""))
            pages, after = pages + 1, page.get("next", "")
            for point in page["points"]:
                told = (point.get("min"), point.get("max"))
                rows.append(row_text(point["t"], point["count"], *told))
    wall_s = perf_counter() - started
    return Walk(wall_s, _cpu_s(service.child.pid) - used, pages, rows)


def _page(connection: http.client.HTTPConnection, path: str) -> Mapping[str, Any]:
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise ConnectionError(body.decode(errors="replace")[:300])
    told: dict[str, Any] = json.loads(body)
    if told.get("missing"):
        raise ConnectionError(str(told["missing"]))
    return told


def _cpu_s(process: int) -> float:
    """CPU of a process and the children that it has now; Linux only (proc_pid_stat(5))."""
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text(encoding="ascii").rpartition(")")[2].split()
            if process in (int(folder.name), int(fields[1])):
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _experiment(
    case: Case, archived: Archived, walks: list[Walk], expected: list[str]
) -> Experiment:
    times = sorted(walk.wall_s for walk in walks)
    later = walks[1:] or walks
    wanted = "" if case.wanted_ms is None else f"{case.wanted_ms} wanted"
    return Experiment(
        f"history: {case.name}",
        (
            Figure("observations", archived.observations),
            Figure("walks", len(walks)),
            Figure("pages", max(walk.pages for walk in walks), "a walk"),
            Figure("buckets", max(len(walk.rows) for walk in walks), "a walk"),
            Figure("first", walks[0].wall_s * 1e3, "ms", "of a gateway just started"),
            Figure("p50", percentile(times, 0.5) * 1e3, "ms"),
            Figure("p95", percentile(times, 0.95) * 1e3, "ms", wanted),
            Figure("CPU", sum(walk.cpu_s for walk in later) / len(later) * 1e3, "ms/walk"),
        ),
        digest(row for walk in walks for row in walk.rows),
        digest(expected),
        (f"{len(archived.streams)} streams of one gateway, one walk after the other",),
    )
