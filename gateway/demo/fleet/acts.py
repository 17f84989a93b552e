"""What a device of the fleet does, and what must become of it: the words of the simulation.

Place on the way of the data: before it. A device yields `Act`s; the link sends them, the truth
takes down what they must lead to.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

StreamKey: TypeAlias = tuple[str, str, str]
"""Sensor, property, feature."""

XSD = "http://www.w3.org/2001/XMLSchema#"
UNIT = "http://qudt.org/vocab/unit/"

DEVICE, NETWORK, GATEWAY = "DeviceClock", "NetworkClock", "GatewayClock"
"""Whose clock a time is from, in the words of ontologies/gateway.ttl."""

FLUSH = "fleet/flush"
"""A topic of the simulation itself: its message is stored when all before it are."""
FLUSHED = ("urn:fleet:flush", "urn:fleet:property:flush", "urn:fleet:flush")
"""The stream of that topic, which is left out of every comparison."""


@dataclass(frozen=True, slots=True)
class When:
    """The time of an observation as far as a payload tells it; None: the gateway's own."""

    time: datetime | None = None
    source: str = GATEWAY
    suspect: bool = False
    historical: bool = False


UNTIMED = When()


@dataclass(frozen=True, slots=True)
class Expected:
    """One observation that must be there, once, however often its reading is sent.

    `reading` tells the physical reading from all others of the stream. `lexical` is as the device
    wrote it, `unit` the name of a QUDT unit. `time` None: the gateway's own.
    """

    stream: StreamKey
    reading: str
    lexical: str
    datatype: str
    unit: str | None = None
    time: datetime | None = None
    source: str = GATEWAY
    suspect: bool = False
    historical: bool = False


@dataclass(frozen=True, slots=True)
class Sent:
    """One PUBLISH of `client`, what must be observed, and the reasons of quarantine.

    `alive` are streams of which it is a sign of life beside what is observed, `gone` those that it
    says are offline; `promises` are seconds in which a stream will be heard again.
    """

    client: str
    topic: str
    payload: bytes
    observed: tuple[Expected, ...] = ()
    wrong: tuple[str, ...] = ()
    alive: tuple[StreamKey, ...] = ()
    gone: tuple[StreamKey, ...] = ()
    promises: Mapping[StreamKey, float] = field(default_factory=dict)
    qos: int = 1
    retain: bool = False
    duplicate: bool = False


@dataclass(frozen=True, slots=True)
class Connect:
    """A client comes; `will` is what the broker says when it is gone without a word.

    `listens` are topic filters that it subscribes.
    """

    client: str
    will: Sent | None = None
    listens: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drop:
    """A client is gone without a word."""

    client: str


Act: TypeAlias = Sent | Connect | Drop
