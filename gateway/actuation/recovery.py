"""What an earlier life of the gateway left of actuations.

Place on the way of the data: once, at the start, before anybody can ask for anything. What was sent
goes on waiting for its confirmation, and is not sent again; what was only requested is told by the
subscription REQUESTED, and fails.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pyoxigraph import NamedNode

from gateway.actuation.actuators import Actuators
from gateway.actuation.history import History
from gateway.actuation.orders import Orders
from gateway.actuation.requests import requests_of, time_of
from gateway.actuation.templates import ActuationTemplates
from gateway.rdf.namespaces import GW
from gateway.runtime.clocks import Clocks
from gateway.store.update import BoundUpdate

Fields = Mapping[str, Any]
_EVER = datetime.min.replace(tzinfo=UTC)
_OPEN = frozenset({GW + "Requested", GW + "Sent"})


def recover(
    rows: Sequence[Fields],
    actuators: Actuators,
    orders: Orders,
    history: History,
    *,
    templates: ActuationTemplates,
    clocks: Clocks,
) -> list[BoundUpdate]:
    """Take up what the rows of the query ACTUATIONS say; gives what is to be written about it."""
    now, time_s = clocks.now(), clocks.steady()
    updates: list[BoundUpdate] = []
    for row in sorted(rows, key=lambda row: time_of(row["endedAt"]) or _EVER):
        iri, actuator, status = (_text(row[name]) for name in ("actuation", "actuator", "status"))
        if status == GW + "Sent":
            (request,) = requests_of([row], is_old=True)
            known = actuators.by_iri.get(actuator)
            sent_at = time_of(row["sentAt"])
            if known is None or sent_at is None or request.value is None:
                updates.append(templates.fail(iri, "its actuator is no more what it was", now))
            elif (before := orders.recall(request, known, sent_at, now, time_s)) is not None:
                updates.append(templates.supersede(before, now))
        elif status not in _OPEN:
            gone = history.add(actuator, iri, is_known=actuator in actuators.by_iri)
            updates += map(templates.forget, gone)
    return updates


def _text(term: object) -> str:
    return term.value if isinstance(term, NamedNode) else ""
