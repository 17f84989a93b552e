"""Metrics for Prometheus: the counters that the parts keep anyway, read when somebody asks.

Nothing on the way of a reading pays for a metric. README, "Metrics", lists the names.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

Values = Mapping[str, float]


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


class Measures(Collector):
    """All measures of a gateway, under the prefix `sosa_gateway_`."""

    def __init__(self, measures: tuple[Measure, ...]) -> None:
        self._measures = measures
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Read everything now."""
        for measure in self._measures:
            family = CounterMetricFamily if measure.is_counter else GaugeMetricFamily
            labels = [measure.label] if measure.label else []
            metric = family(f"sosa_gateway_{measure.name}", measure.description, labels=labels)
            value = measure.read()
            if isinstance(value, Mapping):
                for name, number in value.items():
                    metric.add_metric([name], number)
            else:
                metric.add_metric([], value)
            yield metric
