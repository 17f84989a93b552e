"""A filter asked of the store, in a thread of the pool of queries and within its limits.

Place: between `gateway.exchange.sensorthings`, which makes the SPARQL, and the pool.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import Any

from pyoxigraph import Quad

from gateway.engine import QueryRequest
from gateway.errors import SparqlSyntaxError, TooComplexError
from gateway.exchange.sensorthings.answering import Matches
from gateway.exchange.sensorthings.index import Key
from gateway.exchange.sensorthings.ordering import Value
from gateway.exchange.sensorthings.translation import Asked, question
from gateway.gates.http.rendering import BoundedBody
from gateway.gates.protocol.media_types import Acceptable
from gateway.gates.sparql.query_pool import QueryPool
from gateway.rdf.delta import Delta
from gateway.rdf.rights import Rights
from gateway.store.quad_store import QuadStore, QueryResults

_RESULTS = Acceptable.of("application/sparql-results+json")


class Asking:
    """Asks for one request; `body` bounds its time and what it may bring."""

    def __init__(self, pool: QueryPool, rights: Rights, body: BoundedBody) -> None:
        self._pool = pool
        self._rights = rights
        self._body = body

    def of_store(self, asked: Asked) -> Matches:
        """What the store has. Raises a GatewayError."""
        return self._matches(asked, self._answered)

    def _answered(self, text: str) -> bytes:
        """What the pool answers to a text of ours, which can be wrong only by being too deep."""
        query = QueryRequest(text, rights=self._rights)
        try:
            return self._pool.rendered(query, _RESULTS, self._body).body
        except SparqlSyntaxError as error:
            what = f"$filter and $orderby become SPARQL that is too deep, at column {error.column}"
            raise TooComplexError(what, "ask for less at once") from error

    def of_quads(self, asked: Asked, quads: Iterable[Quad]) -> Matches:
        """What these quads have, for the history. Raises a GatewayError."""
        with closing(QuadStore.open(None)) as store:
            store.apply(Delta(added=tuple(dict.fromkeys(quads))))
            return self._matches(asked, lambda text: self._rendered(store.query(text)))

    def _rendered(self, results: QueryResults) -> bytes:
        self._body.seek(0)
        self._body.truncate()
        return self._body.render(results, _RESULTS).body

    def _matches(self, asked: Asked, answer: Callable[[str], bytes]) -> Matches:
        found: dict[Key, Sequence[Value]] = {}
        posed = question(asked)
        for text in posed.texts:
            document = json.loads(answer(text))
            names = document["head"]["vars"]
            for row in document["results"]["bindings"]:
                key = tuple(row[name]["value"] for name in names[: posed.keys])
                values = [_value(row.get(name)) for name in names[posed.keys :]]
                found.setdefault(_key(key), values)
        return found


def _key(parts: tuple[str, ...]) -> Key:
    if len(parts) == 1:
        return parts[0]
    sensor, observed, feature = parts
    return sensor, observed, feature


def _value(term: "dict[str, Any] | None") -> Value:
    return None if term is None else (term["value"], term.get("datatype", ""))
