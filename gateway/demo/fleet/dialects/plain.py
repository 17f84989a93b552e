"""A bare number on a topic, from a sensor whose capabilities the graph knows.

What it cannot have measured is refused: beyond its range, or too fast (SSN-System).
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from gateway.demo.fleet.acts import Sent, StreamKey
from gateway.demo.fleet.channel import Channel, fixed
from gateway.demo.fleet.device import Device, MappingFields

PROMISE_S = 150.0
RANGE = "schema:minValue -40 ; schema:maxValue 85 ; gw:maximumRate 0.1"
_JUMP = 2_000
"""In hundredths: more in a minute than the rate allows."""


class Scalar(Device):
    """An ESP board that says what it measures and nothing else."""

    family = "scalar"
    faults = ("nan", "beyond", "repeat", "word", "jump", "silence", "bytes", "empty")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.air = Channel(self.key("temperature"), "DEG_C", 2100, 2, low=1000, high=3000)
        self.topic = f"fleet/scalar/{self.name}/temperature"

    def mappings(self) -> Sequence[MappingFields]:
        """One mapping, with a promise."""
        return [self.mapping(self.topic, self.air, unit="°C", expiresAfter=PROMISE_S)]

    def capabilities(self) -> Sequence[tuple[StreamKey, str]]:
        """Range and greatest rate of the sensor."""
        return [(self.air.key, RANGE)]

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """One value. What is refused as a result is a sign of life all the same."""
        del now
        promises = {self.air.key: PROMISE_S}
        bad = {
            "nan": (b"NaN", "not_finite"),
            "word": (b"sensor error", "not_a_value"),
            "bytes": (b"21\xff", "invalid_utf8"),
            "empty": (b"", "empty"),
        }
        refused = {"beyond": (99_999, "out_of_range"), "jump": (self.air.raw + _JUMP, "jump")}
        if fault in bad:
            payload, reason = bad[fault]
            yield Sent(self.client, self.topic, payload, wrong=(reason,))
        elif fault in refused:
            raw, reason = refused[fault]
            text = fixed(raw, 2).encode()
            yield Sent(self.client, self.topic, text, wrong=(reason,), promises=promises)
        else:
            self.air.move(self.dice)
            seen = (self.expected_text(self.air, self.air.text),)
            payload = self.air.text.encode()
            yield Sent(self.client, self.topic, payload, seen, promises=promises)
