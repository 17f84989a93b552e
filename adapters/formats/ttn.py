"""Format "ttn": uplinks of The Things Stack, version 3.

Topics are `v3/APPLICATION@TENANT/devices/DEVICE/up`. Selectors: see adapters.lorawan.uplink; a name
is looked for in `normalized_payload` first, whose names and units are the same for all devices
(`air.temperature`), then in `decoded_payload`. Besides what holds for all uplinks:

- a measurement of normalized_payload may have its own time, that of the device;
- fields that are 0, false or empty are left out by the server: f_cnt and f_port are then 0;
- the time is the Network Server's (`uplink_message.received_at`), else the Application Server's;
  the sequence is f_cnt;
- an uplink that somebody simulated in the console is no observation.

Sources: The Things Stack documentation, data formats; payload schema of the device repository.
"""

from collections.abc import Sequence

from adapters.adapter import Fault, FaultReason, Format, stateless
from adapters.lorawan.proposal import propose_uplink
from adapters.lorawan.uplink import (
    Codec,
    LorawanAdapter,
    Uplink,
    document_of,
    first_time,
    objects_at,
    port_of,
    text_at,
    zeroes,
)
from adapters.values.mapping import Mapping
from adapters.values.memory import Memory
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Names, Proposal

NORMALIZED_UNITS = {
    "action.motion.count": "1",
    "air.temperature": "Cel",
    "air.relativeHumidity": "%RH",
    "air.pressure": "hPa",
    "air.co2": "ppm",
    "air.lightIntensity": "lx",
    "battery": "V",
    "rain.intensity": "mm/h",
    "rain.cumulative": "mm",
    "soil.depth": "cm",
    "soil.moisture": "%",
    "soil.temperature": "Cel",
    "soil.ec": "dS/m",
    "soil.pH": "pH",
    "soil.n": "ppm",
    "soil.p": "ppm",
    "soil.k": "ppm",
    "water.temperature.min": "Cel",
    "water.temperature.max": "Cel",
    "water.temperature.avg": "Cel",
    "water.temperature.current": "Cel",
    "metering.water.total": "l",
    "wind.speed": "m/s",
    "wind.direction": "deg",
}
"""The units that the schema of normalized_payload fixes, by dotted names."""


def read(payload: Payload) -> Uplink | Fault:
    """The uplink in `payload`."""
    event = document_of(payload)
    if isinstance(event, Fault):
        return event
    message = event.get("uplink_message")
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


def _measurement(measurement: dict[str, Json]) -> Codec:
    time = first_time([text_at(measurement, "time")])
    return Codec(measurement, NORMALIZED_UNITS, time)


def _decoded(message: Json) -> tuple[Codec, ...]:
    decoded = message.get("decoded_payload") if isinstance(message, dict) else None
    return (Codec(decoded),) if isinstance(decoded, dict) and decoded else ()


def _models(message: Json) -> tuple[str, ...]:
    """The model as the device repository has it, without and with its brand."""
    ids = message.get("version_ids") if isinstance(message, dict) else None
    brand, model = text_at(ids, "brand_id"), text_at(ids, "model_id")
    return (model, brand + model) if model else ()


def _simulated() -> Fault:
    return Fault(None, FaultReason.BAD_QUALITY, "the uplink was simulated, no device sent it")


def _propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    del memory
    levels = payload.message.topic.split("/")
    if levels[0] != "v3" or len(levels) != 5 or levels[-1] != "up":
        return ()
    uplink = read(payload)
    return () if isinstance(uplink, Fault) else propose_uplink("ttn", uplink, payload, names)


def _compile(mappings: Sequence[Mapping]) -> LorawanAdapter:
    return LorawanAdapter(mappings, read)


FORMAT = Format(stateless(_compile), propose=_propose)
