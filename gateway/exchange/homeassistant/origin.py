"""`Origins`: what announces itself to Home Assistant already, by the mappings that it came by.

Place: asked by `survey` before anything is described. What came from Home Assistant's discovery or
from Zigbee2MQTT on the same broker would be there twice.
"""

from collections.abc import Iterable

from adapters.values.mapping import Mapping
from adapters.values.observation import StreamKey
from gateway.actuation.actuator import Actuator
from gateway.ingest.sensor_classes import Matches, sensors_of


class Origins:
    """What is told by mappings whose format is one of `formats`."""

    def __init__(self, mappings: Iterable[Mapping], formats: frozenset[str]) -> None:
        self._formats = formats
        self._sensors: set[tuple[str, str]] = set()
        self._subjects: set[tuple[str, str]] = set()
        self._templates: list[tuple[str, Matches]] = []
        for each in mappings:
            if each.format in formats:
                self._subjects.add((each.observed_property, each.feature_of_interest))
                if "{" in each.sensor:
                    self._templates.append((each.observed_property, sensors_of(each)))
                else:
                    self._sensors.add((each.sensor, each.observed_property))

    def has(self, stream: StreamKey) -> bool:
        """Whether a stream is theirs; linear in the mappings whose sensor is a template."""
        sensor, observed_property, _ = stream
        if (sensor, observed_property) in self._sensors:
            return True
        return any(
            observed_property == known and matches(sensor) for known, matches in self._templates
        )

    def commands(self, actuator: Actuator) -> bool:
        """Whether an actuator is theirs."""
        if actuator.family in self._formats:
            return True
        subject = (actuator.observed_property, actuator.feature)
        if actuator.sensor:
            return self.has((actuator.sensor, *subject))
        return subject in self._subjects
