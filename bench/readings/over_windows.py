"""Subscriptions over windows of the readings of a workload, and what must come of them.

Place: beside the subscriptions of `workload`, one for each sensor, over the last ten minutes, which
no run takes: half of them are told of each reading that enters, the others of the mean.
"""

from collections.abc import Iterator, Mapping

from bench.readings.workload import SENSORS, Workload, sensor_iri, value
from gateway.rdf.namespaces import OBSERVATIONS, SOSA

LAST = "urn:bench:last10"
_MEANS = SENSORS // 2

_WINDOWS = {LAST: {"stream": OBSERVATIONS, "range": "PT10M"}}
_ENTERING: Mapping[str, object] = {"windows": _WINDOWS, "output": "added"}
_MEAN: Mapping[str, object] = {"windows": _WINDOWS}


def over_windows() -> dict[str, tuple[str, Mapping[str, object]]]:
    """Texts, and the further members of their SUBSCRIBE, by alias."""
    found = {}
    for sensor in range(SENSORS):
        head, variable = ("(AVG(?v) AS ?result)", "?v") if _is_mean(sensor) else ("?result",) * 2
        text = (
            f"SELECT {head} {{ GRAPH <{LAST}> {{ ?o <{SOSA}madeBySensor> <{sensor_iri(sensor)}> ;"
            f" <{SOSA}hasSimpleResult> {variable} }} }}"
        )
        found[alias(sensor)] = text, _MEAN if _is_mean(sensor) else _ENTERING
    return found


def alias(sensor: int) -> str:
    """The name of the subscription that is about a sensor."""
    return f"window {sensor}"


def told(workload: Workload) -> Iterator[tuple[str, str]]:
    """What subscribers hold in the end: alias and result.

    Results of one sensor are `SENSORS` apart, so the mean of some is in the middle.
    """
    for sensor in range(SENSORS):
        indexes = range(sensor, workload.readings, SENSORS)
        if not _is_mean(sensor):
            yield from ((alias(sensor), value(index)) for index in indexes)
        elif indexes:
            yield alias(sensor), value((indexes[0] + indexes[-1]) // 2)


def _is_mean(sensor: int) -> bool:
    return sensor < _MEANS
