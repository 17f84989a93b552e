"""A query outside of the subset, as the jobs tell their errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from jsap.shapes import refusal
from spark_batch.errors import ArchiveError


class QueryError(ArchiveError):
    """The query is wrong, or not among those that the archive answers exactly."""

    exit_code: ClassVar[int] = 2


@contextmanager
def told_as_usage() -> Iterator[None]:
    """What is refused within becomes an error of the job, with the exit code of wrong usage."""
    try:
        yield
    except refusal.QueryError as error:
        raise QueryError(error.description, error.hint) from error
