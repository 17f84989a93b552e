"""A fleet of simulated gateways: sealed segments with faults, and the truth about them.

`Fleet(seed=…)` is a value: the same one always writes the same bytes. Sensors are of three kinds:
a temperature (xsd:decimal), a door contact (xsd:boolean), an energy counter (xsd:integer, with a
reset); each gateway also sends commands now and then. Faults of the landing zone: segments that
come twice or again in part, days late, cut, with a flipped bit, torn inside, of another gateway,
of an unknown schema, and files that are no segments. Clocks jump ahead and are not believed.
"""

import gzip
import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

BASE = "https://sosa-gateway.example/id/"
XSD = "http://www.w3.org/2001/XMLSchema#"
UNIT = "http://qudt.org/vocab/unit/"
_SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Truth:
    """One row that the archive must have: identity and what a reader compares."""

    gateway: str
    epoch: int
    sequence: int
    sensor: str
    property: str | None
    feature: str | None
    result_us: int
    ingested_us: int
    lexical: str
    datatype: str
    unit: str | None


@dataclass(frozen=True, slots=True)
class Fleet:
    """`gateways` with `sensors` each for `days` days, a reading every `interval_s`."""

    gateways: int = 3
    sensors: int = 3
    days: int = 2
    interval_s: int = 600
    lines: int = 100
    seed: int = 0
    faults: bool = True
    start: date = date(2026, 9, 1)

    def write(self, landing: Path) -> list[Truth]:
        """Write every segment and every fault; returns the truth, by identity.

        Linear in the number of readings; `rows` gives them one by one where memory matters.
        """
        truth: list[Truth] = []
        for number in range(self.gateways):
            for lines in self._segments(number):
                self._deliver(landing, lines)
                truth += lines.truth
        return sorted(truth, key=lambda row: (row.gateway, row.epoch, row.sequence))

    def deliveries(self, landing: Path) -> Iterator[list[Truth]]:
        """As `write`, one segment of each gateway at a time; yields what was good of it."""
        streams = [self._segments(number) for number in range(self.gateways)]
        for round_of_segments in zip(*streams, strict=True):
            delivered: list[Truth] = []
            for lines in round_of_segments:
                self._deliver(landing, lines)
                delivered += lines.truth
            yield delivered

    def _segments(self, number: int) -> Iterator["Lines"]:
        gateway = f"gw-{number:03d}"
        chance = random.Random(f"{self.seed}/{gateway}")  # noqa: S311 - a simulation
        epoch = int(datetime.combine(self.start, datetime.min.time(), UTC).timestamp())
        lines = Lines(gateway, epoch + number, 1)
        for row in self._rows(lines.gateway, chance):
            lines.add(row)
            if len(lines.encoded) == self.lines:
                yield lines
                restarted = self.faults and chance.random() < 0.1
                epoch_now = lines.epoch + 100 if restarted else lines.epoch
                first = 1 if restarted else lines.next
                lines = Lines(gateway, epoch_now, first)
        if lines.encoded:
            yield lines

    def _rows(self, gateway: str, chance: random.Random) -> Iterator[dict[str, object]]:
        """What the gateway journals, in order of ingest time, without identity."""
        house = f"urn:fleet:{gateway}"
        base = datetime.combine(self.start, datetime.min.time(), UTC)
        counters = [0] * self.sensors
        for step in range(self.days * 86_400 // self.interval_s):
            now = base + timedelta(seconds=step * self.interval_s)
            for sensor in range(self.sensors):
                if self.faults and chance.random() < 0.02:
                    continue  # a reading that was never sent
                t = int(now.timestamp()) * _SECOND + chance.randrange(_SECOND)
                yield _reading(house, sensor, t, chance, counters, jumps=self.faults)
            if step % 50 == 7:
                yield _command(house, int(now.timestamp()) * _SECOND + 5 * _SECOND)

    def _deliver(self, landing: Path, lines: "Lines") -> None:
        """Into the landing zone, by way of what can happen to it."""
        chance = random.Random(f"{self.seed}/{lines.gateway}/{lines.epoch}/{lines.first}")  # noqa: S311
        name, content = lines.seal()
        folder = landing / lines.gateway / lines.day
        _put(folder / name, content)
        if not self.faults:
            return
        fault = chance.randrange(12)
        if fault == 0:
            _put(landing / lines.gateway / "again" / name, content)
        elif fault == 1:
            part = lines.part(len(lines.encoded) // 3, 2 * len(lines.encoded) // 3)
            _put(folder / part.seal()[0], part.seal()[1])
        elif fault == 2:
            _put(landing / "damaged" / name, content[: len(content) * 6 // 10])
        elif fault == 3:
            flipped = bytearray(content)
            flipped[len(flipped) // 2] ^= 4
            _put(landing / "damaged" / name, bytes(flipped))
        elif fault == 4:
            _put(landing / "damaged" / f"{name}.part", content[:100])
            _put(landing / "damaged" / f"readme-{lines.first}.txt", b"not a segment\n")
        elif fault == 5:
            self._deliver_foreign(landing, lines, chance)

    def _deliver_foreign(self, landing: Path, lines: "Lines", chance: random.Random) -> None:
        """Well sealed, and wrong inside: nothing of it may reach the archive."""
        ghost = Lines(f"ghost-{lines.gateway}", lines.epoch, lines.first, list(lines.encoded))
        kind = chance.randrange(4)
        if kind == 0:
            ghost.header_changes = {"schema": "9.0"}
        elif kind == 1:
            ghost.header_changes = {"gateway": "somebody-else"}
        elif kind == 2:
            ghost.encoded[-1] = ghost.encoded[-1][:20]
        else:
            ghost.encoded[len(ghost.encoded) // 2] = b'{"q":"seven"}\n'
        name, content = ghost.seal()
        _put(landing / "damaged" / name, content)


@dataclass(slots=True)
class Lines:
    """A segment before it is sealed."""

    gateway: str
    epoch: int
    first: int
    encoded: list[bytes] = field(default_factory=list)
    truth: list[Truth] = field(default_factory=list)
    header_changes: dict[str, object] = field(default_factory=dict)
    day: str = ""

    @property
    def next(self) -> int:
        """The sequence after the last line."""
        return self.first + len(self.encoded)

    def add(self, fields: dict[str, object]) -> None:
        """Give the next sequence to a reading."""
        sequence = self.next
        ingested = _integer(fields["i"])
        self.day = self.day or _day(ingested)
        self.encoded.append(_line({"q": sequence, **fields}))
        believed = "t" in fields and "c" not in fields
        self.truth.append(
            Truth(
                self.gateway,
                self.epoch,
                sequence,
                str(fields["s"]),
                _text(fields.get("p")),
                _text(fields.get("f")),
                _integer(fields["t"]) if believed else ingested,
                ingested,
                str(fields["v"]),
                str(fields["d"]),
                _text(fields.get("u")),
            )
        )

    def part(self, start: int, end: int) -> "Lines":
        """Some of the lines, as a segment of their own."""
        return Lines(self.gateway, self.epoch, self.first + start, self.encoded[start:end])

    def seal(self) -> tuple[str, bytes]:
        """Name and bytes, as docs/segments.md says."""
        header: dict[str, object] = {
            "schema": "1.0",
            "gateway": self.gateway,
            "base": BASE,
            "epoch": self.epoch,
            "first": self.first,
        }
        text = _line(header | self.header_changes) + b"".join(self.encoded)
        content = gzip.compress(text, 6, mtime=0)
        sha12 = hashlib.sha256(content).hexdigest()[:12]
        count = len(self.encoded)
        name = f"{self.gateway}-{self.epoch:08d}-{self.first:012d}-{count}-{sha12}.jsonl.gz"
        return name, content


def _reading(
    house: str, sensor: int, t: int, chance: random.Random, counters: list[int], *, jumps: bool
) -> dict[str, object]:
    """One reading; the sensor's number decides its kind."""
    delay = chance.randrange(20_000, 3 * _SECOND)
    fields: dict[str, object] = {
        "s": f"{house}:sensor:{sensor}",
        "f": f"{house}:room:{sensor % 5}",
        "t": t,
        "i": t + delay,
    }
    if sensor % 3 == 1:
        fields |= {"p": "urn:fleet:open", "v": chance.choice(["true", "false"])}
        fields["d"] = XSD + "boolean"
    elif sensor % 3 == 2:
        reset = jumps and chance.random() < 0.002
        counters[sensor] = 0 if reset else counters[sensor] + chance.randrange(50)
        fields |= {"p": "urn:fleet:energy", "v": str(counters[sensor]), "d": XSD + "integer"}
        fields["u"] = UNIT + "W-HR"
    else:
        fields |= {"p": "urn:fleet:temperature", "v": f"{chance.gauss(21, 2):.2f}"}
        fields |= {"d": XSD + "decimal", "u": UNIT + "DEG_C"}
    if jumps and chance.random() < 0.01:
        fields |= {"t": t + 86_400 * 400 * _SECOND, "c": 1}
    elif chance.random() < 0.05:
        del fields["t"]
    return fields


def _command(house: str, at: int) -> dict[str, object]:
    return {
        "a": 1,
        "s": f"{house}:fan",
        "v": '{"state":"ON"}',
        "d": XSD + "string",
        "i": at,
        "o": "zigbee2mqtt/fan/set",
        "r": f"{house}:rule:fan-on",
    }


def _line(fields: dict[str, object]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _day(us: int) -> str:
    return datetime.fromtimestamp(us / _SECOND, UTC).date().isoformat()


def _integer(value: object) -> int:
    return int(str(value))


def _text(value: object) -> str | None:
    return None if value is None else str(value)
