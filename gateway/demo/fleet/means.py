"""The mean of each stream over the last twenty minutes: what a subscription is told, and the truth.

Place: behind the gateway, as `findings`. The window is one by time over `gw:observations`, in which
readings come late, are old at once, or end with a change of unit (docs/windows.md, told again here
in other code).
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from gateway.demo.fleet.acts import FLUSHED, StreamKey
from gateway.demo.fleet.truth import Observed, Truth
from gateway.engine import Notification, SubscribeRequest
from gateway.rdf.namespaces import OBSERVATIONS
from gateway.rdf.solutions import Row
from gateway.windows import Window

RANGE = timedelta(minutes=20)
_WINDOW = "urn:fleet:last20"
_QUERY = f"""\
PREFIX sosa: <http://www.w3.org/ns/sosa/>
SELECT ?sensor ?property ?feature (COUNT(?value) AS ?count) (AVG(?value) AS ?mean) {{
  GRAPH <{_WINDOW}> {{
    ?o sosa:madeBySensor ?sensor ; sosa:observedProperty ?property ;
       sosa:hasFeatureOfInterest ?feature ; sosa:hasSimpleResult ?value }}
}} GROUP BY ?sensor ?property ?feature"""
REQUEST = SubscribeRequest(_QUERY, windows=((_WINDOW, Window(OBSERVATIONS, range="PT20M")),))


@dataclass(frozen=True, slots=True)
class Mean:
    """How many numbers of a stream there are, and their mean to nine digits."""

    stream: StreamKey
    count: int
    mean: str


class MeanLog:
    """A sink of the subscription: its answer now."""

    def __init__(self) -> None:
        self._rows: Counter[Row] = Counter()

    def __call__(self, notification: Notification) -> None:
        """In the scheduler's thread."""
        self._rows.update(notification.results.added)
        self._rows.subtract(notification.results.removed)

    def means(self) -> Iterator[Mean]:
        """A stream that has what is no number has none; a row told twice counts twice."""
        for row in self._rows.elements():
            sensor, observed_property, feature, count, mean = (
                getattr(term, "value", "") for term in row
            )
            if mean and sensor != FLUSHED[0]:
                key = sensor, observed_property, feature
                yield Mean(key, int(count), _nine_digits(Fraction(mean)))


def means(truth: Truth, now: datetime) -> Iterator[Mean]:
    """What it must be."""
    heard: dict[StreamKey, list[Observed]] = {}
    for (stream, _), each in truth.observed.items():
        heard.setdefault(stream, []).append(each)
    for stream, observed in heard.items():
        there = [each for each in _of_one_unit(observed) if now - RANGE < each.result_time <= now]
        if there and all(each.unit for each in there):
            numbers = [Fraction(each.expected.lexical) for each in there]
            yield Mean(stream, len(numbers), _nine_digits(sum(numbers, Fraction()) / len(numbers)))


def _of_one_unit(observed: list[Observed]) -> list[Observed]:
    """Without the numbers in other units than the last; one that comes late changes no unit."""
    kept: list[Observed] = []
    unit, newest = "", None
    for each in observed:
        if each.unit and each.unit != unit:
            if unit and newest is not None and each.result_time < newest:
                continue
            kept = [other for other in kept if not other.unit]
            unit = each.unit
        kept.append(each)
        newest = each.result_time if newest is None else max(newest, each.result_time)
    return kept


def _nine_digits(mean: Fraction) -> str:
    return f"{float(mean):.9g}"
