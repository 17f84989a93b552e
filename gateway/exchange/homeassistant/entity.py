"""`Entity`: what is announced of one thing, as a value; equal ones are announced once.

Place: made by `description` and `virtual_sensors`, kept by `board`. Source: Home Assistant's
documentation of MQTT discovery; the keys are those that every version since 2023.8 reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from json import JSONEncoder
from json.encoder import encode_basestring

from pyoxigraph import Literal

from adapters.values.observation import StreamKey
from gateway import __version__
from gateway.exchange.homeassistant.states import Form, Kind
from gateway.exchange.homeassistant.topics import Topics

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

_ORIGIN: Json = {"name": "sosa-gateway", "sw_version": __version__}
_OF_VALUE = "{{ value_json.value }}"
_OF_AVAILABILITY = "{{ value_json.available }}"
_PLACE = (
    "{{ {'latitude': value_json.latitude, 'longitude': value_json.longitude,"
    " 'gps_accuracy': 0} | tojson }}"
)


@dataclass(frozen=True, slots=True)
class Entity:
    """One entity: `members` are those of its announcement that no topic is in.

    `command` is the topic of its commands. What `is_event` has no state: each value is told,
    and none is retained.
    """

    id: str
    component: str
    members: Mapping[str, Json]
    form: Form
    command: str = ""
    is_event: bool = False

    def announcement(self, topics: Topics) -> bytes:
        """As it is published."""
        state = topics.state(self.id)
        there: list[Json] = [{"topic": topics.status}]
        keys: dict[str, Json] = {"unique_id": self.id, "origin": _ORIGIN, **self.members}
        if self.component == "device_tracker":
            keys |= {"json_attributes_topic": state, "json_attributes_template": _PLACE}
        else:
            keys["state_topic"] = state
        if not self.is_event:
            there.append({"topic": state, "value_template": _OF_AVAILABILITY})
            if self.component != "device_tracker":
                keys["value_template"] = _OF_VALUE
        if self.command:
            keys["command_topic"] = self.command
        keys |= {"availability": there, "availability_mode": "all"}
        return _encode(keys)

    def state(self, value: Literal | None, unit: str | None, *, is_there: bool) -> bytes:
        """The state as it is published."""
        told = None if value is None else self.form.tell(value, unit)
        if self.is_event:
            return _encode({"event_type": told})
        available = "online" if is_there else "offline"
        if self.form.kind is Kind.PLACE and value is not None:
            place = _coordinates(value.value)
            return _encode({"value": told, "available": available, **place})
        text = "null" if told is None else encode_basestring(told)
        return f'{{"value":{text},"available":"{available}"}}'.encode()


def _coordinates(wkt: str) -> dict[str, Json]:
    """A point in WKT, whose first coordinate is the longitude (GeoSPARQL 1.1, 8.5.1)."""
    numbers = wkt.upper().rpartition("POINT")[2].strip(" Z()").split()
    try:
        longitude, latitude = float(numbers[0]), float(numbers[1])
    except (IndexError, ValueError):
        return {"latitude": None, "longitude": None}
    return {"latitude": latitude, "longitude": longitude}


_to_json = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _encode(keys: Mapping[str, Json]) -> bytes:
    return _to_json(keys).encode()


@dataclass(frozen=True, slots=True)
class State:
    """What an entity's state is made of; `value` is None where nothing is known."""

    value: Literal | None = None
    unit: str | None = None
    is_there: bool = True


@dataclass(frozen=True, slots=True)
class Described:
    """Entities with the states that they have in the graph, both by id.

    `streams` are the ids of the entities that streams tell the states of, `times` those of their
    newest values; `left_out` is how many there was no room for.
    """

    entities: Mapping[str, Entity] = field(default_factory=dict)
    states: Mapping[str, State] = field(default_factory=dict)
    streams: Mapping[StreamKey, str] = field(default_factory=dict)
    times: Mapping[StreamKey, datetime] = field(default_factory=dict)
    left_out: int = 0
