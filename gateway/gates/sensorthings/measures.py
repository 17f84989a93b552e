"""What is counted of the SensorThings API."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.runtime.measures import Measure


@dataclass(slots=True)
class Counted:
    """Counters since the start."""

    requests: int = 0
    refused: int = 0
    told: int = 0


def sensorthings_measures(counted: Counted, is_kept: Callable[[], bool]) -> tuple[Measure, ...]:
    """Requests, refusals, and observations told by MQTT."""
    return (
        Measure("sensorthings_requests", "to the SensorThings API", lambda: counted.requests),
        Measure("sensorthings_refused", "of these", lambda: counted.refused),
        Measure("sensorthings_told", "Observations published by MQTT", lambda: counted.told),
        Measure(
            "sensorthings_index",
            "1 while readings are followed for it",
            lambda: int(is_kept()),
            is_counter=False,
        ),
    )
