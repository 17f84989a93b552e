"""Requested actuations as the answer of a query tells them.

Place on the way of the data: between the subscription REQUESTED, or the query ACTUATIONS at the
start, and `orders`.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from pyoxigraph import Literal, NamedNode

from gateway.actuation.orders import ActuationRequest
from gateway.engine import Notification
from gateway.rdf.terms import Term

log = logging.getLogger(__name__)

Fields = Mapping[str, Term | None]


def requests(notification: Notification) -> list[ActuationRequest]:
    """The actuations that an UPDATE has requested, in the order in which they were asked for."""
    results = notification.results
    rows = [dict(zip(results.variables, row, strict=True)) for row in results.added]
    return requests_of(rows, is_old=notification.sequence == 0)


def requests_of(rows: Iterable[Fields], *, is_old: bool) -> list[ActuationRequest]:
    """The actuations that the rows of an answer tell of."""
    groups: dict[str, list[Fields]] = {}
    for row in rows:
        actuation = row["actuation"]
        if isinstance(actuation, NamedNode):
            groups.setdefault(actuation.value, []).append(row)
        else:  # our UPDATEs could not name it
            log.error("actuation_without_iri", extra={"actuation": str(actuation)})
    found = [_request(iri, group, is_old) for iri, group in groups.items()]
    return sorted(found, key=_order)


def _order(request: ActuationRequest) -> tuple[bool, datetime, str]:
    """By their times; requests of one UPDATE have one, unless they say another."""
    time = request.requested_at
    return (time is None, time or datetime.min.replace(tzinfo=UTC), request.iri)


def _request(iri: str, group: Sequence[Fields], is_old: bool) -> ActuationRequest:
    row = group[0]
    actuator, value = row["actuator"], row["value"]
    return ActuationRequest(
        iri,
        actuator.value if isinstance(actuator, NamedNode) else "",
        value if len(group) == 1 and isinstance(value, Literal) else None,
        time_of(row["requestedAt"]),
        is_old,
    )


def time_of(term: Term | None) -> datetime | None:
    """An xsd:dateTime; None for none that can be read. Without a zone it is UTC."""
    if not isinstance(term, Literal):
        return None
    try:
        time = datetime.fromisoformat(term.value)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
