"""Writing out the results of a QUERY, within limits and in the thread that asked for them.

Place on the way of the data: last step of a QUERY, in a thread of the pool. Sources: SPARQL 1.1
Query Results JSON, XML, CSV and TSV Formats, as pyoxigraph writes them; its formats of RDF.
"""

import gzip
import time
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from itertools import islice

from pyoxigraph import (
    QueryResultsFormat,
    QuerySolutions,
    QueryTriples,
    RdfFormat,
    Triple,
    serialize,
)

from gateway.errors import (
    BadRequestError,
    QueryTimeoutError,
    TooLargeError,
    TooManySolutionsError,
)
from gateway.gates.http.solution_count import solution_count
from gateway.gates.protocol.media_types import GRAPHS, RESULTS, Acceptable
from gateway.gates.protocol.wire import encode_results
from gateway.rdf.solutions import Row
from gateway.sparql.bounds.answer import AnswerBounds
from gateway.store.quad_store import QueryResults

_WORTH_PACKING_BYTES = 1024
_LEVEL = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a QUERY, written out; `coding` is its Content-Encoding, "" for none."""

    media_type: str
    body: bytes
    coding: str = ""

    def packed(self) -> "Answer":
        """The same by gzip, where that is worth it; linear."""
        if len(self.body) < _WORTH_PACKING_BYTES:
            return self
        return Answer(self.media_type, gzip.compress(self.body, _LEVEL, mtime=0), "gzip")


class BoundedBody(BytesIO):
    """A body in memory that refuses to grow beyond a size, after a time, and once stopped."""

    def __init__(self, limits: AnswerBounds) -> None:
        super().__init__()
        self._limits = limits
        self._deadline = time.monotonic() + limits.timeout_s

    def stop(self) -> None:
        """Nobody wants it any more; may be called in any thread."""
        self._deadline = 0.0

    def require(self, solutions: int) -> None:
        """Raise TooManySolutionsError beyond the limit of solutions, QueryTimeoutError."""
        if solutions > self._limits.solutions:
            raise TooManySolutionsError(self._limits.solutions)
        if not self.look():
            raise QueryTimeoutError(self._limits.timeout_s)

    def require_room(self, more: int) -> None:
        """Raise TooLargeError where so many bytes more would be too many."""
        if self.tell() + more > self._limits.result_bytes:
            raise TooLargeError(
                f"the result is longer than {self._limits.result_bytes} bytes",
                "ask for less at once: use LIMIT and OFFSET, or $top and $skip",
            )

    def look(self) -> bool:
        """Whether there is time left, and somebody who waits."""
        return time.monotonic() < self._deadline

    def write(self, data: bytes, /) -> int:  # type: ignore[override]  # pyoxigraph writes bytes
        """Raises TooLargeError, QueryTimeoutError."""
        self.require_room(len(data))
        if time.monotonic() > self._deadline:
            raise QueryTimeoutError(self._limits.timeout_s)
        return super().write(data)

    def render(self, results: QueryResults, acceptable: Acceptable) -> Answer:
        """Write the results in the media type for their kind. Raises a GatewayError."""
        try:
            if isinstance(results, QueryTriples):
                media_type = acceptable.graph
                self._write_graph(results, media_type)
            elif isinstance(results, QuerySolutions):
                media_type = acceptable.solutions
                self._write_solutions(results, RESULTS[media_type])
            else:
                media_type = acceptable.boolean
                results.serialize(self, RESULTS[media_type])
        except (OSError, RuntimeError, ValueError) as error:
            raise BadRequestError(
                f"the query failed: {error}", "correct what it asks for"
            ) from error
        return Answer(media_type, self.getvalue())

    def write_triples(self, triples: Iterable[Triple], rdf_format: RdfFormat) -> None:
        """Write them out, so many at most. Raises TooManySolutionsError, QueryTimeoutError."""
        rest = iter(triples)
        most = self._limits.solutions
        serialize(islice(rest, most), self, rdf_format)
        if next(rest, None) is not None:
            raise TooManySolutionsError(most)

    def _write_graph(self, triples: QueryTriples, media_type: str) -> None:
        if media_type in GRAPHS:
            self.write_triples(triples, GRAPHS[media_type])
            return
        rows: list[Row] = [
            (triple.subject, triple.predicate, triple.object)
            for triple in islice(triples, self._limits.solutions + 1)
        ]
        if len(rows) > self._limits.solutions:
            raise TooManySolutionsError(self._limits.solutions)
        self.write(encode_results(("subject", "predicate", "object"), rows).encode())

    def _write_solutions(
        self, solutions: QuerySolutions, results_format: QueryResultsFormat
    ) -> None:
        solutions.serialize(self, results_format)
        most, body = self._limits.solutions, self.getvalue()
        # A short body cannot have so many.
        if len(body) > most and solution_count(body, results_format) > most:
            raise TooManySolutionsError(most)
