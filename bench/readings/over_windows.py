"""Subscriptions over windows of the readings of a workload, and what must come of them.

Place: beside the subscriptions of `workload`, one for each sensor: half of them are told of each
reading that enters a range, by an automaton, the others the mean of the last ten.
"""

from collections.abc import Iterator, Mapping

from bench.readings.workload import SENSORS, Workload, sensor_iri, value
from gateway.rdf.namespaces import OBSERVATIONS, SOSA

RANGE = "urn:bench:range"
LAST = "urn:bench:last"
_MEANS = SENSORS // 2
_OF_LAST = 10

_ENTERING: Mapping[str, object] = {
    "windows": {RANGE: {"stream": OBSERVATIONS, "range": "PT2S"}},
    "output": "added",
}
_MEAN: Mapping[str, object] = {
    "windows": {LAST: {"stream": OBSERVATIONS, "elements": _OF_LAST, "per": "stream"}}
}


def over_windows() -> dict[str, tuple[str, Mapping[str, object]]]:
    """Texts, and the further members of their SUBSCRIBE, by alias."""
    found = {}
    for sensor in range(SENSORS):
        window, head = (LAST, "(AVG(?v) AS ?result)") if _is_mean(sensor) else (RANGE, "?result")
        variable = "?v" if _is_mean(sensor) else "?result"
        text = (
            f"SELECT {head} {{ GRAPH <{window}> {{ ?o <{SOSA}madeBySensor> <{sensor_iri(sensor)}> ;"
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
            last = indexes[-_OF_LAST:]
            yield alias(sensor), value((last[0] + last[-1]) // 2)


def _is_mean(sensor: int) -> bool:
    return sensor < _MEANS
