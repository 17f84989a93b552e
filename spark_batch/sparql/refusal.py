"""What a query is told that lies outside of the subset: where, and what to do instead."""

from typing import ClassVar

from spark_batch.errors import ArchiveError


class QueryError(ArchiveError):
    """The query is wrong, or not among those that the archive answers exactly."""

    exit_code: ClassVar[int] = 2


def refused(place: str, hint: str) -> QueryError:
    """The error to raise for a `place` of the query."""
    return QueryError(f"{place} is outside of what the archive answers", hint)
