"""`run`: `ingest`, `rollup` and `quality` one after the other, in one process and one warm session.

Place on the way of the data: what somebody with one gateway starts, by hand, by a timer, or once
with `--every`. Each job commits by itself, so a round that is ended half-way goes on with the next.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from threading import Event
from typing import NoReturn

from pyspark.sql import SparkSession

from spark_batch.archive import Archive
from spark_batch.errors import ArchiveError
from spark_batch.jobs.derive import Rollup
from spark_batch.jobs.ingest import Ingest
from spark_batch.jobs.quality import Quality
from spark_batch.landing import Landing
from spark_batch.session import Sessions, is_lost
from spark_batch.summary import Progress, Summary, tell_nobody


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a round is to do: `hold_s` as for `rollup`, and what `quality` takes."""

    hold_s: int = 3600
    since: date = date.min
    report: Path | None = None
    labels: Path | None = None


@dataclass(slots=True)
class Rounds:
    """Rounds on one archive; `phases` are seconds of the last one: session, then each job."""

    archive: Archive
    landing: Landing
    sessions: Sessions
    wanted: Wanted = Wanted()
    progress: Progress = tell_nobody
    phases: dict[str, float] = field(default_factory=dict)

    def run(self, *, dry_run: bool = False) -> Summary:
        """One round; raises ArchiveError, and what was committed until then stays."""
        self.phases.clear()
        ingest = Ingest(self.archive, self.landing, self._session, self.progress)
        with self._phase("ingest"):
            done = [ingest.dry_run() if dry_run else ingest.run()]
        if self.archive.observations.exists:
            rollup = Rollup(self.archive, self._session, self.progress, self.wanted.hold_s)
            with self._phase("rollup"):
                done.append(rollup.run(dry_run=dry_run))
            with self._phase("quality"):
                done.append(self._quality(dry_run=dry_run))
        return self._summary(done)

    def every(self, seconds: float, tell: Callable[[Summary], None]) -> NoReturn:
        """A round, and another one so long after each began.

        What a round cannot do is told, and the next one tries it again; raises ArchiveError where
        none could, since Java has ended.
        """
        while True:
            started = time.monotonic()
            try:
                tell(self._timed())
            except ArchiveError as error:
                if is_lost():
                    raise ArchiveError(
                        f"Java has ended: {error.description}", "start it again: it goes on"
                    ) from error
                self.progress(f"error: {error.description}; {error.hint or 'the next round tries'}")
            Event().wait(max(0.0, started + seconds - time.monotonic()))

    def _timed(self) -> Summary:
        started = time.monotonic()
        summary = self.run()
        summary.seconds = time.monotonic() - started
        return summary

    def _quality(self, *, dry_run: bool) -> Summary:
        """Nothing where the findings are of what there is, and the page is there."""
        quality = Quality(self.archive, self._session, self.progress)
        since, report, labels = self.wanted.since, self.wanted.report, self.wanted.labels
        if quality.is_current(since) and (report is None or report.exists()):
            return Summary("quality", "idle", self.archive.committed)
        return quality.run(since, report, labels=labels, dry_run=dry_run)

    def _session(self, rows: int) -> SparkSession:
        """For a job on so many rows, of a JVM for all of them: `quality` looks at each."""
        with self._phase("session"):
            self.sessions(rows + sum(file.rows for file in self.archive.observations.files()))
            return self.sessions(rows)

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        """Count for a phase, and for no other, what is done in the context."""
        started, before = time.monotonic(), sum(self.phases.values())
        try:
            yield
        finally:
            within = sum(self.phases.values()) - before
            spent = time.monotonic() - started - within
            self.phases[name] = self.phases.get(name, 0.0) + spent

    def _summary(self, done: list[Summary]) -> Summary:
        took, status = done[0], {each.status for each in done}
        summary = Summary("run", "done" if "done" in status else took.status, took.batch)
        summary.rows_in, summary.rows_out = took.rows_in, took.rows_out
        summary.quarantined, summary.late = took.quarantined, took.late
        summary.details["phases"] = {name: round(s, 3) for name, s in self.phases.items()}
        summary.details["jobs"] = [each.fields() for each in done[1:]]
        return summary
