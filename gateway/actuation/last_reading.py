"""The last observation of what an actuation has changed, as the store has it.

Place on the way of the data: asked at the start, of what was sent by an earlier life of the
gateway: the reading that confirms it may have come when nobody listened any more; and where a
device says that nothing has changed since before the start.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from pyoxigraph import Literal, NamedNode

from adapters.values.observation import StreamKey
from gateway.actuation.orders import Confirmation, Pending
from gateway.actuation.requests import time_of
from gateway.actuation.values import Reading
from gateway.journal import Position
from gateway.profiles import Profiles
from gateway.rdf.terms import Term
from jsap.template import Template

_EVER = datetime.min.replace(tzinfo=UTC)


class LastReadings:
    """By the query OBSERVATIONS of the profiles; `query` may be called from any thread."""

    def __init__(self, profiles: Profiles, query: Callable[[str], Any]) -> None:
        """Raises ConfigurationError where the profiles have no such query."""
        profiles.query_text("OBSERVATIONS")
        self._template: Template = profiles.queries["OBSERVATIONS"]
        self._query = query

    def of(self, stream: StreamKey) -> Confirmation | None:
        """The one of a stream that arrived last."""
        sensor, observed_property, feature = map(NamedNode, stream)
        return self._last(sensor=sensor, property=observed_property, feature=feature)

    def confirming(self, pending: Pending) -> Confirmation | None:
        """The last one that is about what an actuation has changed."""
        actuator = pending.actuator
        bound = {
            "property": NamedNode(actuator.observed_property),
            "feature": NamedNode(actuator.feature),
        }
        if actuator.sensor:
            bound["sensor"] = NamedNode(actuator.sensor)
        return self._last(**bound)

    def _last(self, **bound: NamedNode) -> Confirmation | None:
        rows = self._query(self._template.render(bound))
        names = [variable.value for variable in rows.variables]
        found = [_confirmation(dict(zip(names, row, strict=True))) for row in rows]
        return max(filter(None, found), key=_arrival, default=None)


def _arrival(confirmation: Confirmation) -> tuple[datetime, Position]:
    """When it came; of those that came at once their order."""
    try:
        position = Position.parse(confirmation.observation.rpartition("/")[2])
    except ValueError:
        position = Position(0, 0)
    return confirmation.received_at, position


def _confirmation(row: Mapping[str, Term | None]) -> Confirmation | None:
    observation, result, unit = row["observation"], row["result"], row["unit"]
    stream = [row["sensor"], row["property"], row["feature"]]
    iris = [term.value for term in stream if isinstance(term, NamedNode)]
    if not isinstance(observation, NamedNode) or not isinstance(result, Literal) or len(iris) < 3:
        return None
    reading = Reading(result, unit.value if isinstance(unit, NamedNode) else None)
    key = (iris[0], iris[1], iris[2])
    return Confirmation(observation.value, key, reading, time_of(row["ingestedAt"]) or _EVER)
