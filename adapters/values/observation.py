"""`Observation`: one measured value, as W3C SOSA models it, before it has an identity.

Source: W3C SOSA/SSN (2017), section 4.2.4; RFC 8428 for the forms of a result.
"""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import Enum, unique
from typing import TypeAlias

XSD = "http://www.w3.org/2001/XMLSchema#"

StreamKey: TypeAlias = tuple[str, str, str]
"""Observations of one stream differ in time only: (sensor, property, feature)."""

Value = bool | int | float | Decimal | str
"""A result as Python has it: Decimal for JSON numbers with a fraction, so that no digit is lost."""


@unique
class TimeSource(Enum):
    """Whose clock a phenomenon_time was read from; the values are terms of ontologies/gateway.ttl.

    NETWORK is a server between device and broker that stamped the message (LoRaWAN, a hub),
    BROKER a stamp that the broker put on it. GATEWAY is the word for an observation without
    phenomenon_time: no adapter gives it.
    """

    DEVICE = "DeviceClock"
    NETWORK = "NetworkClock"
    BROKER = "BrokerClock"
    GATEWAY = "GatewayClock"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """How an observation came about, shared by all that came about alike.

    `historical`: the sender says that it kept the value for later, so it is no news of now.
    `seed`: a state of unknown age, worth something only where nothing is known of the stream.
    `clock_suspect`: the sender says, or shows, that the clock behind phenomenon_time is not set.
    """

    time_source: TimeSource = TimeSource.DEVICE
    historical: bool = False
    seed: bool = False
    clock_suspect: bool = False


USUAL = Circumstances()


@dataclass(frozen=True, slots=True)
class Observation:
    """What a sensor saw: sensor, property and feature are IRIs, `unit` a QUDT unit IRI or None.

    `lexical` and `datatype` (an XSD IRI) are the result as an RDF literal. `phenomenon_time` is
    the device's own time, aware UTC, or None when the payload carries none. `device_sequence`
    is the device's counter or the message's own identifier as text, or None: the same one again in
    the same stream, with the same value, is the same observation. `sensor_class` is the IRI of a
    class that the sensor is of, as its mapping has it; the journal does not keep it.
    """

    sensor: str
    observed_property: str
    feature_of_interest: str
    lexical: str
    datatype: str
    unit: str | None = None
    phenomenon_time: datetime | None = None
    device_sequence: str | None = None
    circumstances: Circumstances = USUAL
    sensor_class: str | None = field(default=None, compare=False)

    @property
    def stream(self) -> StreamKey:
        """Observations of one stream differ in time only: (sensor, property, feature)."""
        return (self.sensor, self.observed_property, self.feature_of_interest)
