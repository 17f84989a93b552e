"""Metrics for Prometheus: the counters that the parts keep anyway, read when somebody asks."""

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from gateway.runtime.measures import Histogram, Measure

_PREFIX = "sosa_gateway_"


class Measures(Collector):
    """All measures of a gateway, under the prefix `sosa_gateway_`."""

    def __init__(self, measures: Iterable[Measure], histograms: Iterable[Histogram] = ()) -> None:
        self._measures = tuple(measures)
        self._histograms = tuple(histograms)
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Read everything now."""
        yield from map(_metric, self._measures)
        yield from map(_times, self._histograms)


def _metric(measure: Measure) -> Metric:
    family = CounterMetricFamily if measure.is_counter else GaugeMetricFamily
    labels = [measure.label] if measure.label else []
    metric = family(_PREFIX + measure.name, measure.description, labels=labels)
    value = measure.read()
    if isinstance(value, Mapping):
        for name, number in value.items():
            metric.add_metric([name], number)
    else:
        metric.add_metric([], value)
    return metric


def _times(histogram: Histogram) -> Metric:
    name, label = _PREFIX + histogram.name, histogram.label
    family = HistogramMetricFamily(name, histogram.description, labels=[label])
    for value, times in histogram.read().items():
        family.add_metric([value], times.cumulated(), times.total_s)
    return family
