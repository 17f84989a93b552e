"""The folder of one archive: its tables, plans, quarantine.

<archive>/observations/   every observation and actuation, by day
          rollup/         minutes, hours and days of each stream
          quality/        findings
          plan/           what each batch took
          labels/         what gateways call their things
          touched/        which gateways and days each batch changed
          quarantine/     what was no good segment
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import date
from itertools import groupby
from pathlib import Path

from spark_batch.errors import ArchiveError
from spark_batch.files import lock, read_json, write_json
from spark_batch.plan import Checked, Ledger, Plans
from spark_batch.quarantine import Quarantine
from spark_batch.schema import FINDINGS, OBSERVATIONS, ROLLUP
from spark_batch.table import Table

Touched = Mapping[date, frozenset[str]]
"""Gateways with new rows, by day."""


class Archive:
    """The parts of an archive; a folder on a file system that all machines of a cluster see."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.observations = Table(self.folder / "observations", OBSERVATIONS)
        self.rollup = Table(self.folder / "rollup", ROLLUP)
        self.quality = Table(self.folder / "quality", FINDINGS)
        self.plans = Plans(self.folder / "plan")
        self.labels = Labels(self.folder / "labels")
        self.quarantine = Quarantine(self.folder / "quarantine")

    @property
    def committed(self) -> int:
        """The newest batch of observations."""
        return self.observations.version("ingest")

    def ledger(self) -> Ledger:
        """What the committed batches took."""
        return self.plans.ledger(self.committed)

    def lock(self, table: Table, job: str) -> AbstractContextManager[None]:
        """One writer a table; raises BusyError at once."""
        return lock(self.folder / f"{table.folder.name}.lock", job)

    def must_exist(self) -> None:
        """Raises ArchiveError for a folder that has no archive."""
        if not self.observations.exists:
            raise ArchiveError(
                f"{self.folder} has no archive", "name the folder that `ingest` was given"
            )

    def touch(self, batch: int, touched: Touched) -> None:
        """Remember what a batch changes, before it is committed."""
        days = {day.isoformat(): sorted(gateways) for day, gateways in sorted(touched.items())}
        write_json(self._touched(batch), days)

    def touched(self, batches: Iterable[int]) -> Touched:
        """What these batches changed."""
        union: defaultdict[date, set[str]] = defaultdict(set)
        for batch in batches:
            for day, gateways in read_json(self._touched(batch)).items():
                union[date.fromisoformat(day)].update(gateways)
        return {day: frozenset(gateways) for day, gateways in union.items()}

    def retain_since(self, day: date) -> None:
        """Remember that days before one were dropped: nothing is derived from what is left."""
        write_json(self._retained, {"since": max(day, self.retained_since()).isoformat()})

    def retained_since(self) -> date:
        """The first day whose observations were never dropped."""
        if not self._retained.exists():
            return date.min
        return date.fromisoformat(read_json(self._retained)["since"])

    @property
    def _retained(self) -> Path:
        return self.folder / "retained.json"

    def _touched(self, batch: int) -> Path:
        return self.folder / "touched" / f"{batch:09d}.json"


class Labels:
    """What gateways call their things: a file for each, its labels by IRI and their newest segment.

    For people who read a report; rows have IRIs, so what is told twice, late or never changes none.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take(self, checked: Iterable[Checked]) -> None:
        """Remember what these segments call things; newer ones win, in whatever order they come.

        Raises ArchiveError.
        """
        told = sorted((each for each in checked if each.labels), key=lambda each: each.segment)
        for gateway, segments in groupby(told, key=lambda each: each.segment.gateway):
            self._take(gateway, segments)

    def known(self) -> Mapping[str, str]:
        """All labels by IRI; raises ArchiveError."""
        found: dict[str, str] = {}
        for path in sorted(self._folder.glob("*.json")):
            found |= read_json(path)["labels"]
        return found

    def _take(self, gateway: str, segments: Iterable[Checked]) -> None:
        path = self._folder / f"{gateway}.json"
        before = read_json(path) if path.exists() else {}
        newest: tuple[int, int] = tuple(before.get("newest", (0, 0)))
        labels: dict[str, str] = before.get("labels", {})
        for each in segments:
            place = (each.segment.epoch, each.segment.first)
            labels = {**labels, **each.labels} if place >= newest else {**each.labels, **labels}
            newest = max(newest, place)
        after = {"newest": list(newest), "labels": labels}
        if after != before:
            write_json(path, after)
