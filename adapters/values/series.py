"""`SeriesUnits`: in which unit each stream has been told, so that a change of it is noticed.

Place on the way: the registry asks for every observation. A mapping with a unit converts, and its
streams never change; where it has none the device's unit is the observation's, and values of two
units must not become one history. After a restart the gateway fills it again from its store.
"""

from adapters.values.memory import Recent
from adapters.values.notice import UnitChange
from adapters.values.observation import Observation, StreamKey

MAX_STREAMS = 50_000


class SeriesUnits:
    """The units of MAX_STREAMS streams; one that was forgotten begins anew."""

    __slots__ = ("_units",)

    def __init__(self) -> None:
        self._units = Recent[StreamKey, str](MAX_STREAMS)

    def change(self, observation: Observation) -> UnitChange | None:
        """What `observation` changes; its unit is the stream's from now on."""
        unit, stream = observation.unit, observation.stream
        if unit is None:
            return None
        before = self._units.get(stream)
        if before == unit:
            return None
        self._units.put(stream, unit)
        return None if before is None else UnitChange(stream, before, unit)

    def recall(self, stream: StreamKey, unit: str) -> None:
        """Set the unit in which the stream was last told, a QUDT unit IRI."""
        self._units.put(stream, unit)

    def of(self, stream: StreamKey) -> str | None:
        """The unit in which the stream was last told."""
        return self._units.get(stream)
