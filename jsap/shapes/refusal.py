"""What a query is told that lies outside of the subset: where, and what to do instead."""


class QueryError(ValueError):
    """The query is wrong, or not among those that are answered exactly over time.

    `description` says what is wrong, `hint` what to do about it.
    """

    def __init__(self, description: str, hint: str = "") -> None:
        super().__init__(f"{description} ({hint})" if hint else description)
        self.description = description
        self.hint = hint


def refused(place: str, hint: str) -> QueryError:
    """The error to raise for a `place` of the query."""
    return QueryError(f"{place} is outside of what the archive answers", hint)
