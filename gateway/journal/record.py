"""What the journal has lines for: observations and actuations with their identity.

Place on the way of the data: between ingest and the segments. docs/segments.md, "Content", says
what each member of a line means; lines of journals before schema 1.0 have ISO times and are read.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from sys import intern
from typing import Self

from adapters.values.observation import USUAL, Circumstances, Observation, TimeSource
from gateway.runtime.text_cache import remembered

SCHEMA = "1.4"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_write_ascii = json.JSONEncoder(separators=(",", ":")).encode

Fields = dict[str, object]


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in the journal; also the identity of an observation within its gateway."""

    epoch: int
    sequence: int

    def __str__(self) -> str:
        return f"{self.epoch}-{self.sequence}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The reverse of `str`; raises ValueError."""
        epoch, sequence = text.split("-")
        return cls(int(epoch), int(sequence))


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose journal it is: the gateway's id, and what the IRIs that it mints begin with.

    `labels` are what some IRIs are called.
    """

    gateway: str = "gateway"
    base_iri: str = "https://sosa-gateway.example/id/"
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)

    def header(self, epoch: int, first: int) -> bytes:
        """The first line of a segment."""
        fields: Fields = {
            "schema": SCHEMA,
            "gateway": self.gateway,
            "base": self.base_iri,
            "epoch": epoch,
            "first": first,
        }
        if self.labels:
            fields["labels"] = self.labels
        return encode_fields(fields)

    @classmethod
    def of_header(cls, line: bytes) -> Self:
        """Whose lines follow a header; raises ValueError, KeyError."""
        fields = read_fields(line)
        labels = fields.get("labels")
        told = labels if isinstance(labels, dict) else {}
        return cls(str(fields["gateway"]), str(fields["base"]), told)


@dataclass(frozen=True, slots=True)
class Record:
    """An accepted observation with its identity.

    `message` is the sequence of the first record of the same MQTT message: those with the same
    `message` belong to one UPDATE. `delivery` names the MQTT delivery (see
    gateway.ingest.duplicates) in the first record of a message that has a packet id.
    """

    position: Position
    message: int
    observation: Observation
    ingested_at: datetime
    delivery: str = ""
    clock_suspect: bool = False

    def encode(self) -> bytes:
        """One line, without the epoch, which stands in the segment's name."""
        seen = self.observation
        sequence = self.position.sequence
        line = f'{{"q":{sequence},'
        if self.message != sequence:
            line += f'"m":{self.message},'
        line += (
            f'{_stream(*seen.stream)},"v":{_write(seen.lexical)},{_type(seen.datatype, seen.unit)}'
        )
        if seen.phenomenon_time is not None:
            line += f',"t":{micros(seen.phenomenon_time)}'
        line += f',"i":{micros(self.ingested_at)}'
        if seen.device_sequence is not None:
            line += f',"n":{_write(seen.device_sequence)}'
        if self.delivery:
            line += f',"k":{_write(self.delivery)}'
        if self.clock_suspect:
            line += ',"c":1'
        if seen.circumstances is not USUAL:
            line += _told(seen.circumstances)
        return _line(line + "}")

    @classmethod
    def decode(cls, epoch: int, line: bytes) -> Self:
        """The reverse of `encode`; raises ValueError for a torn or foreign line."""
        try:
            return cls._of(epoch, _read(line.decode()))
        except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError(f"not a journal record: {line[:80]!r}") from error

    @classmethod
    def _of(cls, epoch: int, fields: dict[str, object]) -> Self:
        time, unit = fields.get("t"), fields.get("u")
        observation = Observation(
            intern(fields["s"]),  # type: ignore[call-overload]  # what we wrote has the types we wrote
            intern(fields["p"]),  # type: ignore[call-overload]
            intern(fields["f"]),  # type: ignore[call-overload]
            fields["v"],  # type: ignore[arg-type]
            intern(fields["d"]),  # type: ignore[call-overload]
            None if unit is None else intern(unit),  # type: ignore[call-overload]
            None if time is None else _time(time),
            fields.get("n"),  # type: ignore[arg-type]
            _circumstances(fields),
        )
        sequence = fields["q"]
        return cls(
            Position(epoch, sequence),  # type: ignore[arg-type]
            fields.get("m", sequence),  # type: ignore[arg-type]
            observation,
            _time(fields["i"]),
            fields.get("k", ""),  # type: ignore[arg-type]
            bool(fields.get("c")),
        )


_read = json.JSONDecoder().decode
"""As `json.loads` does, which looks for the encoding first."""


def _told(circumstances: Circumstances) -> str:
    """What is not as usual, as members."""
    source = circumstances.time_source
    clock = "" if source is TimeSource.DEVICE else f',"z":{_write(source.value)}'
    historical = ',"l":1' if circumstances.historical else ""
    return clock + historical + (',"e":1' if circumstances.seed else "")


def _circumstances(fields: dict[str, object]) -> Circumstances:
    if "z" not in fields and "l" not in fields and "e" not in fields:
        return USUAL
    return Circumstances(
        TimeSource(fields.get("z", TimeSource.DEVICE.value)),
        bool(fields.get("l")),
        bool(fields.get("e")),
    )


@dataclass(frozen=True, slots=True)
class Actuation:
    """A command that was sent; the journal gives it an identity when it writes it.

    `actuator` and `rule` are IRIs ("" for no rule); `lexical` and `datatype` are the payload.
    `actuation` is its IRI in the store, with what it acts on, where it is there.
    """

    actuator: str
    topic: str
    lexical: str
    datatype: str
    sent_at: datetime
    rule: str = ""
    actuation: str = ""
    acts_on_property: str = ""
    feature_of_interest: str = ""

    def encode(self, sequence: int) -> bytes:
        """One line, marked `"a":1`."""
        return encode_fields(self.fields(sequence))

    def fields(self, sequence: int) -> Fields:
        """The members of the line."""
        fields: Fields = {
            "q": sequence,
            "a": 1,
            "s": self.actuator,
            "v": self.lexical,
            "d": self.datatype,
            "i": micros(self.sent_at),
            "o": self.topic,
        }
        named = {
            "p": self.acts_on_property,
            "f": self.feature_of_interest,
            "r": self.rule,
            "x": self.actuation,
        }
        return fields | {member: iri for member, iri in named.items() if iri}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command that was sent ended; `status` is `Confirmed`, `Failed` or `Superseded`.

    `observation` is the IRI of the one that confirmed it, `reason` why it failed. The line says
    the command again: who knows nothing of outcomes reads what the first line said.
    """

    command: Actuation
    status: str
    ended_at: datetime
    observation: str = ""
    reason: str = ""

    def encode(self, sequence: int) -> bytes:
        """One line, marked `"a":1`, with `y`."""
        told = {"y": self.status, "j": micros(self.ended_at)}
        named = {"b": self.observation, "g": self.reason}
        told |= {member: text for member, text in named.items() if text}
        return encode_fields(self.command.fields(sequence) | told)


def is_observation(line: bytes) -> bool:
    """Whether a whole line is an observation; the others: header, actuations, outcomes."""
    return line.startswith(b'{"q":') and b',"a":1,' not in line[:40]


def encode_fields(fields: Fields) -> bytes:
    """A JSON object as one line."""
    return _line(_write(fields))


def read_fields(line: bytes) -> Fields:
    """The reverse of `encode_fields`. Raises ValueError for what is no JSON object."""
    fields = json.loads(line)
    if not isinstance(fields, dict):
        raise ValueError(f"no JSON object: {line[:80]!r}")  # as of other bad lines
    return fields


def _line(text: str) -> bytes:
    """A lone surrogate, which UTF-8 has not, becomes an escape."""
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return _write_ascii(json.loads(text)).encode() + b"\n"


# What observations of a stream have in common is written once: half the time of a line.
@remembered(1 << 20)
def _stream(sensor: str, observed_property: str, feature: str) -> str:
    return f'"s":{_write(sensor)},"p":{_write(observed_property)},"f":{_write(feature)}'


@remembered()
def _type(datatype: str, unit: str | None) -> str:
    told = "" if unit is None else f',"u":{_write(unit)}'
    return f'"d":{_write(datatype)}{told}'


def micros(time: datetime) -> int:
    """µs since 1970-01-01 UTC of an aware datetime, exactly."""
    return (time - _EPOCH) // _MICROSECOND


def _time(value: object) -> datetime:
    if isinstance(value, str):
        return datetime.fromisoformat(value).astimezone(UTC)
    if not isinstance(value, int):
        raise TypeError(f"no time: {value!r}")
    return _EPOCH + timedelta(microseconds=value)
