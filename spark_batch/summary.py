"""What a job tells: its progress while it runs, a summary as JSON, metrics for Prometheus."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from spark_batch.errors import QUARANTINED
from spark_batch.files import write_whole

Progress = Callable[[str], None]
"""Told one line at a time what the job does."""


@dataclass(slots=True)
class Summary:
    """The outcome of one run. `status` is done, idle (nothing to do) or dry-run."""

    job: str
    status: str = "done"
    batch: int | None = None
    rows_in: int = 0
    rows_out: int = 0
    quarantined: int = 0
    late: int = 0
    details: dict[str, object] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """0, or 3 when something went into quarantine."""
        return QUARANTINED if self.quarantined else 0

    def fields(self) -> dict[str, object]:
        """The members of the JSON object."""
        return {
            "job": self.job,
            "status": self.status,
            "batch": self.batch,
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "quarantined": self.quarantined,
            "late": self.late,
            **self.details,
            "seconds": round(self.seconds, 3),
        }

    def to_json(self) -> str:
        """The summary as one JSON object."""
        return json.dumps(self.fields(), ensure_ascii=False, indent=2, default=str)

    def write_metrics(self, path: Path) -> None:
        """For the textfile collector of the node exporter."""
        figures = {
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "quarantined": self.quarantined,
            "late": self.late,
            "seconds": self.seconds,
            "last_run_timestamp_seconds": time.time(),
        }
        lines = [
            line
            for name, value in figures.items()
            for line in (
                f"# TYPE sosa_archive_{name} gauge",
                f'sosa_archive_{name}{{job="{self.job}"}} {value}',
            )
        ]
        write_whole(path, "\n".join(lines) + "\n")


def tell_stderr(line: str) -> None:
    """Progress for a person."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def tell_nobody(_: str) -> None:
    """No progress."""
