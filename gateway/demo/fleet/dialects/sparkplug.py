"""A Sparkplug B edge node with one device: births, aliases, a counter that wraps, deaths.

It tells what changed by alias alone, and gives its births again when the host asks for them.
Source: Eclipse Sparkplug 3.0, sections 5 and 6.4.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gateway.demo.fleet.acts import DEVICE, Act, Connect, Expected, Sent, StreamKey, When
from gateway.demo.fleet.channel import Channel
from gateway.demo.fleet.device import BACK_S, Device, MappingFields
from gateway.demo.fleet.dialects import sparkplug_writer as writer
from gateway.demo.fleet.dialects.sparkplug_writer import BOOLEAN, DOUBLE, INT32, INT64, Metric

REBIRTH = "Node Control/Rebirth"
_SUSPICIOUS = {"null": "null", "bad": "bad_quality", "stale": "stale"}
_QUALITIES = {"bad": 0, "stale": 500}


@dataclass(slots=True)
class _Point:
    """A metric: what was said of it last, and what must be observed where it was not heard.

    `wrong` is why nothing can be observed.
    """

    channel: Channel
    name: str
    told: Metric
    seen: Expected | None = None
    wrong: str = ""

    @property
    def birth(self) -> bytes:
        """The metric in a birth: with its name."""
        return writer.metric(replace(self.told, name=self.name))

    @property
    def data(self) -> bytes:
        """The metric in a DATA message: by its alias."""
        return writer.metric(replace(self.told, unit=""))


class SparkplugNode(Device):
    """Three metrics; "gap" loses a message, "stranger" has an alias that no birth has named.

    "reborn" gives new aliases and another unit; "device" is the death of the device alone.
    """

    family = "sparkplug"
    period_s = 20
    faults = (
        "historical",
        "gap",
        "null",
        "lost",
        "bad",
        "torn",
        "reborn",
        "copy",
        "device",
        "stale",
        "stranger",
    )

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        air = Channel(self.key("Temperature", "temperature"), "DEG_C", 1835, 2, high=4000)
        count = Channel(self.key("Count"), None, -3, 0, low=-500, high=500)
        running = Channel(self.key("Running"), None, 0)
        self.points = [
            _Point(air, "Temperature", Metric(1, DOUBLE, None, 0, unit="°C")),
            _Point(count, "Count", Metric(2, INT32, None, 0)),
            _Point(running, "Running", Metric(3, BOOLEAN, None, 0)),
        ]
        self.asked = 0
        self.asks = 0
        self._answered = 0
        self._lost = False
        self._dead = False
        self._is_forgotten = False
        self._bd_seq = 250
        self._seq = 240 * (number % 2) - 1

    def mappings(self) -> Sequence[MappingFields]:
        """One mapping for each metric of all nodes; the unit is told by the birth."""
        place = "urn:fleet:{1}"
        return [
            {
                "id": f"urn:fleet:mapping:sparkplug:{point.name}",
                "topic": "spBv1.0/fleet/DDATA/+/probe",
                "format": self.family,
                "selector": point.name,
                "sensor": f"{place}:{point.name}",
                "property": point.channel.key[1],
                "feature": place,
            }
            for point in self.points
        ]

    def streams(self) -> Sequence[StreamKey]:
        """All streams of the device."""
        return [point.channel.key for point in self.points]

    def forgotten(self) -> None:
        """What a birth says that cannot be observed is news to a gateway that has started anew."""
        self._is_forgotten = True

    def hear(self, payload: bytes) -> None:
        """A command of the host."""
        self.asked += REBIRTH.encode() in payload

    def arrive(self, now: datetime) -> Iterator[Act]:
        """Connect with a will of its own number, then the births."""
        self._bd_seq = (self._bd_seq + 1) % 256
        death = writer.payload(_ms(now), None, self._session(now))
        topic = self._topic("NDEATH", "")
        will = Sent(self.client, topic, death, gone=tuple(self.streams()))
        yield Connect(self.client, will, (self._topic("NCMD", ""),))
        if not self.turns:
            for point in self.points:
                self._measure(point, now)
        else:
            self._seq = -1
        yield from self._births(now)

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """What changed. A message that was lost or torn is missed at the next one."""
        yield from self._needed_births(now, fault)
        if fault == "device":
            yield replace(self._sent("DDEATH", now, [], []), gone=tuple(self.streams()))
        elif fault == "historical":
            yield self._history(now)
        else:
            sent = self._told(now, fault)
            yield from (sent, sent) if fault == "copy" else (sent,)

    def _needed_births(self, now: datetime, fault: str) -> Iterator[Sent]:
        """Births of the node that is asked or born again, or of the device that was dead."""
        if fault == "reborn":
            self._change()
        if self.asked > self._answered or fault == "reborn":
            self._answered = self.asked
            self._seq = -1
            yield from self._births(now)
        elif self._dead:
            yield self._device_birth(now)
        self._dead = fault == "device"

    def _told(self, now: datetime, fault: str) -> Sent:
        """A message with what has changed, by aliases."""
        if fault == "gap":
            self._seq += 1
            self._lost = True
        changed = [point for point in self.points if self.dice.random() < 0.6] or self.points[:1]
        for point in changed:
            self._measure(point, now)
        wrong = [_SUSPICIOUS[fault]] if fault in _SUSPICIOUS else []
        if wrong:
            self._spoil(changed[0], fault)
        seen = [point.seen for point in changed if point.seen]
        metrics = [point.data for point in changed]
        if fault == "stranger":
            metrics.append(writer.metric(Metric(99, INT32, 1, _ms(now))))
            wrong.append("unknown_name")
            self.asks += 1
        return self._sent("DDATA", now, metrics, seen, wrong)

    def torn(self, sent: Sent) -> Sent:
        """Births never are; the last byte of a message is, and the host misses its number."""
        if "BIRTH" in sent.topic:
            return sent
        torn = replace(super().torn(sent), payload=sent.payload[:-1])
        self._lost = True
        return torn

    def _measure(self, point: _Point, now: datetime) -> None:
        """Another value, or for the switch perhaps the same one, measured now."""
        point.channel.move(self.dice)
        value: bool | float = point.channel.value
        if point.told.datatype == BOOLEAN:
            value = self.dice.random() < 0.5
            if (point.told.timestamp_ms, point.told.value) == (_ms(now), value):
                now += timedelta(milliseconds=1)  # nobody can tell twice the same from once
        point.told = replace(point.told, value=value, timestamp_ms=_ms(now), quality=None)
        point.seen, point.wrong = self.expected(point.channel, value, When(now, DEVICE)), ""

    def _spoil(self, point: _Point, fault: str) -> None:
        value = None if fault == "null" else point.told.value
        point.told = replace(point.told, value=value, quality=_QUALITIES.get(fault))
        point.seen, point.wrong = None, _SUSPICIOUS[fault]

    def _history(self, now: datetime) -> Sent:
        """What was measured while nobody listened."""
        then = now - timedelta(seconds=BACK_S)
        point = self.points[0]
        value = point.channel.value
        told = Metric(point.told.alias, DOUBLE, value, _ms(then), historical=True)
        seen = self.expected(point.channel, value, When(then, DEVICE, historical=True))
        seen = replace(seen, reading=f"history-{self.turns}")
        return self._sent("DDATA", now, [writer.metric(told)], [seen])

    def _births(self, now: datetime) -> Iterator[Sent]:
        rebirth = writer.metric(Metric(0, BOOLEAN, False, _ms(now), REBIRTH))
        self._lost = False
        yield self._sent("NBIRTH", now, [self._session(now), rebirth], [], device="")
        yield self._device_birth(now)

    def _device_birth(self, now: datetime) -> Sent:
        seen = [point.seen for point in self.points if point.seen]
        wrong = [point.wrong for point in self.points if point.wrong and self._is_forgotten]
        self._is_forgotten = False
        sent = self._sent("DBIRTH", now, [point.birth for point in self.points], seen, wrong)
        return replace(sent, alive=tuple(self.streams()))

    def _change(self) -> None:
        """Other aliases, and the first metric in another unit from its next value on."""
        aliases = [point.told.alias for point in self.points]
        for point, alias in zip(self.points, [*aliases[1:], aliases[0]], strict=True):
            point.told = replace(point.told, alias=alias)
        air = self.points[0]
        is_celsius = air.channel.unit == "DEG_C"
        air.channel.unit = "DEG_F" if is_celsius else "DEG_C"
        air.told = replace(air.told, unit="°F" if is_celsius else "°C")

    def _session(self, now: datetime) -> bytes:
        return writer.metric(Metric(0, INT64, self._bd_seq, _ms(now), "bdSeq"))

    def _sent(
        self,
        kind: str,
        now: datetime,
        metrics: Sequence[bytes],
        seen: Sequence[Expected],
        wrong: Sequence[str] = (),
        *,
        device: str = "probe",
    ) -> Sent:
        if kind == "DDATA" and self._lost:
            self._lost = False
            self.asks += 1
        self._seq = (self._seq + 1) % 256
        payload = writer.payload(_ms(now), self._seq, *metrics)
        topic = self._topic(kind, device)
        return Sent(self.client, topic, payload, tuple(seen), tuple(wrong), qos=0)

    def _topic(self, kind: str, device: str) -> str:
        return "/".join(filter(None, ("spBv1.0/fleet", kind, self.name, device)))


def _ms(time: datetime) -> int:
    return int(time.timestamp() * 1000)
