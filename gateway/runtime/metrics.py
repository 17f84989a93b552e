"""Metrics for Prometheus: the counters that the parts keep anyway, read when somebody asks.

Nothing on the way of a reading pays for a metric. README, "Metrics", lists the names.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

Values = Mapping[str, float]

_PREFIX = "sosa_gateway_"


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric: its name without the prefix, what it counts, and how to read it now.

    With `label`, `read` gives one value for each value of that label.
    """

    name: str
    description: str
    read: Callable[[], float | Values]
    is_counter: bool = True
    label: str = ""


BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Distribution:
    """How many times fell between bounds, and their sum; adding one costs a bisection.

    >>> times = Distribution()
    >>> times.add(0.003)
    >>> times.cumulated()[2]
    ('0.005', 1)
    """

    __slots__ = ("_counts", "total_s")

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS_S) + 1)
        self.total_s = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self._counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.total_s += seconds

    def cumulated(self) -> list[tuple[str, int]]:
        """Upper bounds, each with how many were not above it."""
        names = [*map(str, BOUNDS_S), "+Inf"]
        return list(zip(names, accumulate(self._counts), strict=True))


@dataclass(frozen=True, slots=True)
class Histogram:
    """A metric of times by the values of a label."""

    name: str
    description: str
    label: str
    read: Callable[[], Mapping[str, Distribution]]

    def family(self) -> Metric:
        """As Prometheus takes it."""
        family = HistogramMetricFamily(_PREFIX + self.name, self.description, labels=[self.label])
        for value, times in self.read().items():
            family.add_metric([value], times.cumulated(), times.total_s)
        return family


class Measures(Collector):
    """All measures of a gateway, under the prefix `sosa_gateway_`."""

    def __init__(
        self, measures: tuple[Measure, ...], histograms: tuple[Histogram, ...] = ()
    ) -> None:
        self._measures = measures
        self._histograms = histograms
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Read everything now."""
        for measure in self._measures:
            family = CounterMetricFamily if measure.is_counter else GaugeMetricFamily
            labels = [measure.label] if measure.label else []
            metric = family(_PREFIX + measure.name, measure.description, labels=labels)
            value = measure.read()
            if isinstance(value, Mapping):
                for name, number in value.items():
                    metric.add_metric([name], number)
            else:
                metric.add_metric([], value)
            yield metric
        for histogram in self._histograms:
            yield histogram.family()
