"""Files of the landing zone that are no good segments: kept with a report, never in the way.

`<archive>/quarantine/<sha16>-<name>/` has `report.json` (file, offset, line, reason) and the bytes.
The file in the landing zone stays where it is: a good one under the same name will be ingested.
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from spark_batch.files import link_or_copy, read_json, write_json
from spark_batch.landing import Landing
from spark_batch.segment import Fault

_LARGEST_COPY = 256 << 20


@dataclass(frozen=True, slots=True)
class Report:
    """What is wrong with one file; `offset` counts unpacked bytes, `line` from 1, header first."""

    file: str
    sha256: str
    size: int
    reason: str
    detail: str
    offset: int
    line: int | None


class Quarantine:
    """The quarantine of one archive."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, landing: Landing, place: str, fault: Fault) -> Report | None:
        """Keep a file with its report; None when exactly these bytes are here already."""
        sha256, size = _measure(landing, place)
        name = Path(place).name
        folder = self._folder / f"{sha256[:16]}-{name}"
        if self.has(sha256, name):
            return None
        report = Report(place, sha256, size, fault.reason, fault.detail, fault.offset, fault.line)
        if size <= _LARGEST_COPY:
            fetched = landing.fetch(place, folder)
            link_or_copy(fetched, folder / name)
        fields = {name: getattr(report, name) for name in Report.__slots__}
        found_at = datetime.now(UTC).isoformat(timespec="seconds")
        write_json(folder / "report.json", fields | {"found_at": found_at})
        return report

    def has(self, sha256: str, name: str) -> bool:
        """Whether exactly these bytes are here under this name."""
        return (self._folder / f"{sha256[:16]}-{name}" / "report.json").exists()

    def reports(self) -> list[dict[str, object]]:
        """Every report, by name of its folder."""
        return [read_json(path) for path in sorted(self._folder.glob("*/report.json"))]


def _measure(landing: Landing, place: str) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with landing.open(place) as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size
