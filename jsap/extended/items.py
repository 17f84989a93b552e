"""The items of the member `extended` of a profile, as a file writes them.

Place: between the file and its quads, which `jsap.extended.quads` makes. What a member means is
said by the term of the same name in ontologies/gateway.ttl.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal as OneOf

from pydantic import BaseModel, ConfigDict, Field


class Item(BaseModel):
    """What has an IRI of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: str


_LONGEST_S = 10**9
"""Some thirty years of silence."""


class AvailabilityItem(BaseModel):
    """A topic that says whether a device is there."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    topic: str
    available: str | None = None
    notAvailable: str | None = None  # noqa: N815 - as it is written
    template: str | None = None


class AvailabilitiesItem(BaseModel):
    """Several of them, and how they go together."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    mode: OneOf["all", "any", "latest"] = "latest"
    topics: list[AvailabilityItem] | tuple[AvailabilityItem, ...]


class MappingItem(Item):
    """A gw:Mapping: which part of which messages is an observation, and of what."""

    topic: str
    format: str
    sensor: str
    property: str
    feature: str
    selector: str | None = None
    unit: str | None = None
    time: str | None = None
    sequence: str | None = None
    device_unit: str | None = Field(default=None, alias="deviceUnit")
    true_value: str | None = Field(default=None, alias="trueValue")
    false_value: str | None = Field(default=None, alias="falseValue")
    expires_after: int | float | None = Field(
        default=None, gt=0, le=_LONGEST_S, alias="expiresAfter"
    )
    availability: str | None = None
    retained: OneOf["seed", "history", "drop"] | None = None
    availabilities: str | AvailabilitiesItem | None = None
    sensor_class: str | None = Field(default=None, alias="sensorClass")
    scale: int | float | Decimal | None = None
    offset: int | float | Decimal | None = None
    condition: str | None = None
    decimal_sign: OneOf[",", "."] | None = Field(default=None, alias="decimalSign")


Number = int | float | Decimal


class ActuatorItem(Item):
    """A sosa:Actuator: how it is commanded, with what values."""

    topic: str
    property: str
    feature: str
    payload: str | None = None
    format: str | None = None
    values: list[str] | tuple[str, ...] = ()
    minimum: Number | None = None
    maximum: Number | None = None
    step: Number | None = Field(default=None, gt=0)
    unit: str | None = None
    device_unit: str | None = Field(default=None, validation_alias="deviceUnit")
    true_value: str | None = Field(default=None, validation_alias="trueValue")
    false_value: str | None = Field(default=None, validation_alias="falseValue")
    sensor: str | None = None
    tolerance: Number | None = Field(default=None, ge=0)
    time_limit: Number | None = Field(default=None, gt=0, validation_alias="timeLimit")
    name: str | None = None
    qos: int | None = Field(default=None, ge=0, le=2)
    retain: bool | None = None


class RuleItem(Item):
    """A gw:RepublishRule: rows of a query as messages."""

    topic: str
    payload: str
    on: OneOf["added", "removed"]
    query: str | None = None
    sparql: str | None = None
    qos: int | None = Field(default=None, ge=0, le=2)
    retain: bool | None = None
    on_start: bool | None = Field(default=None, alias="onStart")
    infer: bool | None = None


Iris = str | list[str] | tuple[str, ...]


class WindowItem(Item):
    """A gw:Window; what its members mean, the gateway knows."""

    stream: str
    range: str | None = None
    triples: int | None = None
    elements: int | None = None
    step: str | int | None = None
    per: str | None = None
    sensor: Iris = ()
    property: Iris = ()
    feature: Iris = ()
    lateness: str | None = None
    late: str | None = None
    time: str | None = None
    clock: str | None = None
    zone: str | None = None
    limit: int | None = None
    overflow: str | None = None
    bounds: bool | None = None


MODELS: Mapping[str, type[Item]] = {
    "mappings": MappingItem,
    "actuators": ActuatorItem,
    "rules": RuleItem,
    "windows": WindowItem,
    "elementStreams": Item,
}
"""What each list of `extended` holds."""
