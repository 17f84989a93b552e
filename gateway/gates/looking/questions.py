"""`Questions`: several queries of our own about somebody's query, in one turn of the pool.

Place: between the pool of queries and what looks into a query (`gateway.admin.looking`). Each is
evaluated with the rights of who asks and within the pool's limits: one that its form does not bound
in a process of its own.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice
from time import monotonic

from pyoxigraph import (
    QueryResultsFormat,
    QuerySolutions,
    parse_query_results,
)

from gateway.admin.looking.near import Found
from gateway.engine import QueryRequest
from gateway.errors import BadRequestError, QueryTimeoutError, TooComplexError
from gateway.gates.http.rendering import BoundedBody
from gateway.gates.protocol.media_types import Acceptable
from gateway.gates.sparql.query_pool import QueryPool
from gateway.rdf.dataset import Dataset
from gateway.rdf.rights import Rights
from gateway.sparql.bounded import query_facts

_JSON = "application/sparql-results+json"
_LOOK = 256
"""Solutions between two looks at the time."""


class Questions:
    """Asks the store, so often and so long; in one thread of the pool."""

    def __init__(
        self,
        pool: QueryPool,
        body: BoundedBody,
        *,
        rights: Rights,
        dataset: Dataset | None,
        most: int,
        time_s: float,
        infer: bool = False,
    ) -> None:
        """With `infer` they are of what follows too."""
        self._pool = pool
        self._body = body
        self._request = partial(QueryRequest, dataset=dataset, rights=rights, infer=infer)
        self._left = most
        self._time_s = time_s
        self._deadline = monotonic() + time_s

    def count(self, group: str, most: int) -> int:
        """The solutions of a group, `most` at most. Raises a GatewayError."""
        name = "one"
        while f"?{name}" in group:
            name += "_"
        text = f"SELECT (1 AS ?{name}) {group} LIMIT {most}"
        if self._is_apart(text):
            (row,) = self._apart(f"SELECT (COUNT(*) AS ?{name}) {{ {text} }}")
            return int(row[name].value)  # type: ignore[union-attr]  # a COUNT is a literal
        return sum(1 for _ in self._beside(text))

    def count_rows(self, select: str, most: int) -> int:
        """The rows of a SELECT without prologue, `most` at most. Raises a GatewayError."""
        if self._is_apart(select):
            return self.count(f"{{ {{ {select} }} }}", most)
        return sum(1 for _ in islice(self._beside(select), most))

    def rows(self, select: str) -> Sequence[Found]:
        """The rows of a SELECT that has a LIMIT. Raises a GatewayError."""
        return self._apart(select) if self._is_apart(select) else list(self._beside(select))

    def _is_apart(self, text: str) -> bool:
        """Also takes one question off, raises TooComplexError or QueryTimeoutError."""
        self._left -= 1
        if self._left < 0:
            raise TooComplexError("this would take too many questions", "ask of a part of it")
        self._look()
        return self._pool.apart is not None and not query_facts(text).is_bounded

    def _look(self) -> None:
        if monotonic() > self._deadline or not self._body.look():
            raise QueryTimeoutError(self._time_s)

    def _apart(self, text: str) -> list[Found]:
        assert self._pool.apart is not None  # noqa: S101
        query = self._request(text)
        wanted = Acceptable.of(_JSON)
        answer = self._pool.apart.answer(query, wanted, self._is_wanted, takes_gzip=False)
        results = parse_query_results(answer.body, QueryResultsFormat.JSON)
        assert isinstance(results, QuerySolutions)  # noqa: S101
        return list(_found(results))

    def _is_wanted(self) -> bool:
        return monotonic() < self._deadline and self._body.look()

    def _beside(self, text: str) -> Iterable[Found]:
        """In this thread, with a look at the time now and then."""
        try:
            results = self._pool.evaluate(self._request(text))
            assert isinstance(results, QuerySolutions)  # noqa: S101
            rows = _found(results)
            while some := list(islice(rows, _LOOK)):
                yield from some
                self._look()
        except (OSError, RuntimeError, ValueError) as error:
            raise BadRequestError(f"the query failed: {error}", "correct it") from error


def _found(results: QuerySolutions) -> "Iterable[Found]":
    names = [each.value for each in results.variables]
    for row in results:
        yield {name: term for name in names if (term := row[name]) is not None}
