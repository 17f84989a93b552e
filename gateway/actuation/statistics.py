"""What is counted of actuations, for /metrics."""

from dataclasses import dataclass


@dataclass(slots=True)
class ActuationStatistics:
    """Counters since the start; `ignored` are commands by MQTT that were retained, repeated or
    for nobody."""

    sent: int = 0
    confirmed: int = 0
    failed: int = 0
    superseded: int = 0
    ignored: int = 0
