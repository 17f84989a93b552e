"""Where observations of all times are, and how much of them one query may take.

Place: values that a gate hands to the process of a query; nothing here loads what reads an archive.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from gateway.errors import ConfigurationError

_READERS = ("deltalake", "duckdb", "rdflib")


@dataclass(frozen=True, slots=True)
class Sources:
    """Where observations are: an archive, and a journal; None is one that is not."""

    archive: Path | None
    journal: Path | None


@dataclass(frozen=True, slots=True)
class GatherLimits:
    """`rows` are observations, `facts` quads of the store, `memory_bytes` DuckDB's."""

    rows: int = 100_000
    facts: int = 1_000_000
    memory_bytes: int = 128 * 1024 * 1024


def require_readers() -> None:
    """Raise ConfigurationError where what reads an archive is not installed."""
    lacking = [name for name in _READERS if find_spec(name) is None]
    if lacking:
        raise ConfigurationError(
            f"an archive cannot be read here: {', '.join(lacking)} is not installed",
            "pip install 'sosa-gateway[history]', or leave [archive] path out",
        )
