"""`replay`: observations of the archive to an MQTT broker, or as UPDATEs to a gateway.

Place on the way of the data: from the archive back to the entrance of a gateway, for tests and to
fill a new gateway's history. Rows go in the order of their time, at any speed; a batch goes when
the one before is acknowledged, and the position of the last one is kept: whatever dies, nothing is
left out, and at most what was sent in the last second is sent again.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from jsap.shapes.shape import Shapes
from spark_batch.archive import Archive
from spark_batch.files import lock, write_json
from spark_batch.replay.pace import Pace
from spark_batch.replay.position import PositionFile
from spark_batch.replay.receiver import Receiver, Sent
from spark_batch.replay.selection import Row, Selection
from spark_batch.replay.senml import DEFAULT_TOPIC, mappings
from spark_batch.session import Sessions, told
from spark_batch.summary import Progress, Summary, tell_nobody

_TELL_EVERY = 50_000


@dataclass(frozen=True, slots=True)
class Replay:
    """What to send and how. `speed` None: as fast as it is taken; `shapes`: with statements."""

    selection: Selection = field(default_factory=Selection)
    speed: float | None = None
    batch: int = 100
    position: Path | None = None
    shapes: Shapes | None = None


def replay(
    archive: Archive,
    sessions: Sessions,
    receiver: Callable[[], Receiver],
    wanted: Replay,
    progress: Progress = tell_nobody,
    *,
    dry_run: bool = False,
) -> Summary:
    """Send everything behind the position; raises ArchiveError, and the position stands."""
    archive.must_exist()
    with _alone(wanted.position):
        place = PositionFile(wanted.position, wanted.selection.digest)
        files = wanted.selection.files(archive.observations, place.position)
        summary = Summary("replay", "done", archive.committed, sum(file.rows for file in files))
        summary.details = {"files": len(files), "position": place.told}
        if dry_run or not files:
            summary.status = "dry-run" if dry_run else "idle"
            return summary
        progress(f"replaying from {len(files)} files with {summary.rows_in} rows")
        with told(archive.folder):
            spark, table = sessions(summary.rows_in), archive.observations
            rows = wanted.selection.rows(table, spark, files, place.position, wanted.shapes)
            sent = _send(rows, receiver, wanted, place, progress)
    summary.status = "done" if sent.rows or sent.left_out else "idle"
    summary.rows_out = sent.rows
    summary.details |= {
        "messages": sent.messages,
        "left_out": dict(sent.left_out),
        "position": place.told,
    }
    return summary


def _send(
    rows: Iterator[Row],
    receiver: Callable[[], Receiver],
    wanted: Replay,
    place: PositionFile,
    progress: Progress,
) -> Sent:
    total = Sent()
    try:
        with receiver() as connected:
            for batch in Pace(wanted.speed).batches(rows, wanted.batch):
                sent = connected.send(batch)
                place.advance(batch[-1].position)
                before = total.rows // _TELL_EVERY
                total.rows += sent.rows
                total.messages += sent.messages
                total.left_out += Counter(sent.left_out)
                if total.rows // _TELL_EVERY > before or wanted.speed is not None:
                    progress(f"{total.rows} sent, up to {place.position}")
    finally:
        place.save()
        if place.position is not None:
            progress(f"acknowledged up to {place.position}")
    return total


def write_mappings(
    archive: Archive,
    sessions: Sessions,
    selection: Selection,
    file: Path,
    topic: str = DEFAULT_TOPIC,
) -> int:
    """Write the JSAP profile that a gateway needs for the packs; returns how many streams."""
    archive.must_exist()
    with told(archive.folder):
        files = selection.files(archive.observations, None)
        rows = sum(file.rows for file in files)
        streams = selection.streams(archive.observations, sessions(rows), files)
    write_json(file, mappings(streams, topic))
    return len(streams)


@contextmanager
def _alone(position: Path | None) -> Iterator[None]:
    """One replay at a time moves a position."""
    if position is None:
        yield
        return
    with lock(position.with_name(f".{position.name}.lock"), "replay"):
        yield
