"""Format "ttn": uplinks of The Things Stack, version 3.

Topics are `v3/APPLICATION@TENANT/devices/DEVICE/up`. Selectors: see adapters.lorawan.uplink; a name
is looked for in `normalized_payload` first, whose names and units are the same for all devices
(`air.temperature`), then in `decoded_payload`. Besides what holds for all uplinks:

- a measurement of normalized_payload may have its own time, that of the device;
- fields that are 0, false or empty are left out by the server: f_cnt and f_port are then 0;
- the time is the Network Server's (`uplink_message.received_at`), else the Application Server's;
  the sequence is f_cnt;
- `location/solved` is the place that a service found; other events have no reading;
- an uplink that somebody simulated in the console is no observation.

Sources: The Things Stack documentation, data formats; payload schema of the device repository.
"""

from collections.abc import Sequence

from adapters.adapter import Fault, FaultReason, Format, stateless
from adapters.lorawan.proposal import propose_members, propose_uplink
from adapters.lorawan.uplink import (
    Codec,
    LorawanAdapter,
    Object,
    Uplink,
    codecs_of,
    document_of,
    first_time,
    objects_at,
    port_of,
    text_at,
    zeroes,
)
from adapters.lorawan.words import NORMALIZED
from adapters.values.mapping import Mapping
from adapters.values.meaning import WordTable
from adapters.values.memory import Memory
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Names, Proposal

_UNITS = {name: word.unit for name, word in NORMALIZED.words.items() if word.unit}
_LOCATION = WordTable.of(
    "latitude deg $.location_solved.location.latitude\n"
    "longitude deg $.location_solved.location.longitude\n"
    "altitude m $.location_solved.location.altitude\n"
    "own-diagnostic m $.location_solved.location.accuracy"
)
_READ = (["up"], ["location", "solved"])


def read(payload: Payload) -> Uplink | Fault:
    """The uplink in `payload`."""
    event = document_of(payload)
    if isinstance(event, Fault):
        return event
    message = event.get("uplink_message")
    if isinstance(event.get("location_solved"), dict):
        return _located(event)
    if not isinstance(message, dict):
        return Fault(None, FaultReason.MALFORMED, "the event has no uplink_message")
    message = event["uplink_message"] = dict(message)
    zeroes(message, "f_cnt", "f_port")
    ids = event.get("end_device_ids")
    device = text_at(ids, "device_id")
    return Uplink(
        event,
        (tuple(map(_measurement, objects_at(message, "normalized_payload"))), _decoded(message)),
        text_at(message, "frm_payload"),
        port_of(text_at(message, "f_port")),
        _models(message),
        text_at(ids, "dev_eui") or device,
        device,
        first_time([text_at(message, "received_at"), text_at(event, "received_at")]),
        text_at(message, "f_cnt"),
        _simulated() if event.get("simulated") is True else None,
    )


def _located(event: Object) -> Uplink:
    """Where a service says that a device is: no uplink, and nothing of the device's own."""
    ids = event.get("end_device_ids")
    device = text_at(ids, "device_id")
    return Uplink(
        event,
        device=text_at(ids, "dev_eui") or device,
        label=device,
        time=first_time([text_at(event, "received_at")]),
    )


def _measurement(measurement: dict[str, Json]) -> Codec:
    time = first_time([text_at(measurement, "time")])
    return Codec(measurement, _UNITS, time)


def _decoded(message: Json) -> tuple[Codec, ...]:
    decoded = message.get("decoded_payload") if isinstance(message, dict) else None
    return codecs_of(decoded)


def _models(message: Json) -> tuple[str, ...]:
    """The model as the device repository has it, without and with its brand."""
    ids = message.get("version_ids") if isinstance(message, dict) else None
    brand, model = text_at(ids, "brand_id"), text_at(ids, "model_id")
    return (model, brand + model) if model else ()


def _simulated() -> Fault:
    return Fault(None, FaultReason.BAD_QUALITY, "the uplink was simulated, no device sent it")


def _propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    del memory
    topic = payload.message.topic
    levels = topic.split("/")
    if levels[0] != "v3" or levels[2:3] != ["devices"] or len(levels) < 5:
        return ()
    event = read(payload) if levels[4:] in _READ else None
    if event is None or isinstance(event, Fault):
        return ()
    if levels[4:] == ["up"]:
        return propose_uplink("ttn", event, payload, names)
    return propose_members("ttn", event, topic, _LOCATION, names)


def _compile(mappings: Sequence[Mapping]) -> LorawanAdapter:
    return LorawanAdapter(mappings, read)


FORMAT = Format(stateless(_compile), propose=_propose, alone=("v3/+/devices/+/#",))
