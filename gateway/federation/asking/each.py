"""`EachSubscription`: one query asked of each member alone, told as one answer with `?gateway`.

    a mirror of each member -> its rows, each with the member's id -> one subscriber

Place: beside `Asking`, for one thread. The answer is the sum of the members' answers; who has not
told yet what the query needs has no part in it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from uuid import uuid4

from pyoxigraph import Literal

from gateway.engine import Notification
from gateway.engine.notification import Federated
from gateway.errors import UnsupportedQueryError
from gateway.rdf.solutions import ResultsDelta, Row
from gateway.sparql.parser import parse_query

GATEWAY = "gateway"
"""The variable that has the id of a row's member."""


def require_each(text: str) -> None:
    """Raise UnsupportedQueryError for a query that mode `each` cannot ask, SparqlSyntaxError."""
    query = parse_query(text)
    if query.form.name != "SELECT":
        raise UnsupportedQueryError(
            f"mode each gives rows with ?{GATEWAY}, and {query.form.name} has none",
            "ask by SELECT, or in mode union",
        )
    if GATEWAY in query.variables:
        raise UnsupportedQueryError(
            f"mode each adds ?{GATEWAY}, which the query has already", "call that one otherwise"
        )


def with_gateway(rows: Iterable[Row], member: str) -> tuple[Row, ...]:
    """The rows of a member, with its id."""
    name = Literal(member)
    return tuple((*row, name) for row in rows)


class EachSubscription:
    """One of a client; `members` are those whose answers are in it, each by a spuid of its own.

    `members` maps them to these.
    """

    def __init__(
        self,
        variables: tuple[str, ...],
        alias: str | None,
        told: Callable[[Notification], None],
        time: Callable[[], int],
    ) -> None:
        self.spuid = f"sepa://subscription/{uuid4()}"
        self.members: dict[str, str] = {}
        self._variables = (*variables, GATEWAY)
        self._alias = alias
        self._told = told
        self._time = time
        self._sequence = 0
        self._is_begun = False
        self._rows: dict[str, Counter[Row]] = {}
        self._positions: dict[str, str] = {}

    def first(self) -> Notification:
        """The first notification, with what is there."""
        self._is_begun = True
        rows = [
            row
            for member, bag in self._rows.items()
            for row in with_gateway(bag.elements(), member)
        ]
        return self._notification(rows, (), Federated(self._vector()))

    def add(self, member: str, first: Notification) -> None:
        """Have a member's answer in it, by its first notification."""
        self.members[member] = first.spuid
        self._rows[member] = Counter()
        self._take(member, first)

    def teller(self, member: str) -> Callable[[Notification], None]:
        """Takes what a member's answer becomes."""
        return lambda notification: self._take(member, notification)

    def drop(self, member: str) -> str:
        """Have a member's answer in it no longer; the spuid of that."""
        rows = with_gateway(self._rows.pop(member).elements(), member)
        self._positions.pop(member, None)
        self._tell((), rows, Federated(self._vector()))
        return self.members.pop(member)

    def _take(self, member: str, notification: Notification) -> None:
        results, place = notification.results, notification.federation
        bag = self._rows[member]
        bag.update(results.added)
        bag.subtract(results.removed)
        self._rows[member] = +bag
        if place is not None:
            self._positions.update(place.positions)
        added = with_gateway(results.added, member)
        removed = with_gateway(results.removed, member)
        kept = place._replace(positions=self._vector()) if place is not None else None
        self._tell(added, removed, kept)

    def _vector(self) -> Mapping[str, str]:
        return dict(sorted(self._positions.items()))

    def _tell(self, added: Sequence[Row], removed: Sequence[Row], place: Federated | None) -> None:
        if self._is_begun and (added or removed):
            self._sequence += 1
            self._told(self._notification(added, removed, place))

    def _notification(
        self, added: Iterable[Row], removed: Iterable[Row], place: Federated | None
    ) -> Notification:
        known_as = (self.spuid, self._sequence, self._alias)
        results = ResultsDelta(self._variables, tuple(added), tuple(removed))
        return Notification(*known_as, self._time(), results, federation=place)
