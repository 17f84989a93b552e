"""Journals with sealed segments, for the tests of shipping."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from adapters.values.observation import XSD, Observation
from gateway.journal import Journal, JournalLimits, Origin, Record
from gateway.journal.names import SegmentName

BEGIN = datetime(2026, 3, 2, 7, 22, 40, tzinfo=UTC)
ORIGIN = Origin("kitchen", "https://example.org/id/")


def observe(journal: Journal, value: int) -> Record:
    """A record that is not written yet."""
    seen = Observation("urn:s", "urn:p", "urn:f", str(value), XSD + "integer", "urn:unit")
    position = journal.next_position()
    return Record(position, position.sequence, seen, BEGIN + timedelta(seconds=value))


def fill(journal: Journal, count: int, begin: int = 0) -> list[Record]:
    """So many observations, each synced."""
    records = []
    for value in range(begin, begin + count):
        records.append(observe(journal, value))
        journal.append(records[-1:])
        journal.sync()
    return records


@contextmanager
def sealed_journal(
    folder: Path, segments: int = 3, length: int = 10, **limits: float
) -> Iterator[Journal]:
    """A journal that has sealed some segments and keeps nothing longer than it must."""
    settings = {"fsync": False, "keep_s": 0, "free_bytes": 0, "segment_observations": length}
    with Journal(folder, ORIGIN, JournalLimits(**{**settings, **limits})) as journal:  # type: ignore[arg-type]
        fill(journal, segments * length + 1)
        journal.seal()
        yield journal


def lines_of(path: Path) -> list[dict[str, object]]:
    """The observations of a sealed segment, by the standard library alone."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [fields for line in lines if "q" in (fields := json.loads(line))]


def landed(zone: Path) -> dict[tuple[int, int], dict[str, object]]:
    """Every observation in a landing zone by its identity; fails where one comes twice."""
    found: dict[tuple[int, int], dict[str, object]] = {}
    for path in sorted(zone.rglob("*.jsonl.gz")):
        name = SegmentName.parse(path.name)
        lines = lines_of(path)
        assert len(lines) == name.count
        for fields in lines:
            identity = (name.start.epoch, int(str(fields["q"])))
            assert identity not in found
            found[identity] = fields
    return found
