"""What an engine does in the benchmark: three jobs on the same segments."""

from dataclasses import dataclass
from datetime import date
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Made:
    """How many rows (of an export: statements) a job made, and in which files."""

    rows: int
    files: list[str]


class Way(Protocol):
    """What an engine does; built with the landing zone, a folder of its own and the cores."""

    def ingest(self) -> Made:
        """Segments to a table by day, each line once, in the archive's layout."""

    def rollup(self) -> Made:
        """Minutes, hours and days of each stream."""

    def export(self, before: date) -> Made:
        """gzipped N-Triples of the days before one."""
