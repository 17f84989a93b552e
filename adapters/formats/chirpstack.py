"""Format "chirpstack": events of the LoRaWAN network server ChirpStack, versions 4 and 3.

Topics are `application/APPLICATION/device/DEV_EUI/event/up`, `.../status` and so on. Selectors:
see adapters.lorawan.uplink; decoded values stand in `object`. Besides what holds for all uplinks:

- protobuf's JSON leaves zeroes out: fCnt, fPort, dr, snr, margin and batteryLevel that are not
  there are 0;
- a battery that the device could not measure (batteryLevelUnavailable) or does not have
  (externalPowerSource) is not told as 0 %;
- a status is battery and margin, a location its coordinates; join, ack, txack and log have no
  reading, and are proposed as none;
- the time is the event's, else the first that a gateway gives in rxInfo; the sequence is
  deduplicationId, else fCnt;
- version 3 has the members of deviceInfo in the event itself, devEUI in base64 where the marshaler
  is protobuf's (the topic has it in hexadecimal), and what a codec decoded as the text objectJSON.

Sources: ChirpStack v4 documentation, integrations, event types; ChirpStack Application Server v3,
integrations, event types.
"""

from collections.abc import Sequence

from adapters.adapter import Fault, FaultReason, Format, stateless
from adapters.lorawan.proposal import propose_members, propose_uplink
from adapters.lorawan.uplink import (
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
from adapters.values.mapping import Mapping
from adapters.values.meaning import WordTable
from adapters.values.memory import Memory
from adapters.values.payload import Payload, parse_json
from adapters.values.proposal import Names, Proposal

_TIMES = ("nsTime", "gwTime", "time")
_DECODED = frozenset({"up", "integration"})
_MEMBERS = {
    "status": WordTable.of("battery % $.batteryLevel\nown-diagnostic dB $.margin"),
    "location": WordTable.of(
        "latitude deg $.location.latitude\n"
        "longitude deg $.location.longitude\n"
        "altitude m $.location.altitude"
    ),
}
"""What events that are no uplinks say of a device; the others have no reading."""


def read(payload: Payload) -> Uplink | Fault:
    """The event in `payload`."""
    event = document_of(payload)
    if isinstance(event, Fault):
        return event
    if "deviceInfo" not in event and "devEUI" in event:
        _as_version_4(event, payload.message.topic)
    if not isinstance(event.get("deviceInfo"), dict):
        return Fault(None, FaultReason.MALFORMED, "the event has no deviceInfo")
    kind = payload.message.topic.rpartition("/")[2]
    _complete(event, kind)
    decoded = codecs_of(event.get("object")) if kind in _DECODED or "data" in event else ()
    received = objects_at(event, "rxInfo")
    times = [text_at(event, "time"), *(text_at(each, key) for each in received for key in _TIMES)]
    return Uplink(
        event,
        (decoded,) if decoded else (),
        text_at(event, "data"),
        port_of(text_at(event, "fPort")),
        _models(event),
        text_at(event, "deviceInfo", "devEui"),
        text_at(event, "deviceInfo", "deviceName"),
        first_time(times),
        text_at(event, "deduplicationId") or text_at(event, "fCnt") or None,
    )


def _as_version_4(event: Object, topic: str) -> None:
    """What version 3 says, where version 4 has it."""
    levels = topic.split("/")
    told = {"deviceName": event.get("deviceName"), "tags": event.get("tags")}
    told |= {"deviceProfileName": event.get("deviceProfileName")}
    told["devEui"] = levels[3].lower() if len(levels) > 3 else event.get("devEUI")
    event["deviceInfo"] = told
    decoded = event.get("objectJSON")
    if type(decoded) is str and decoded and "object" not in event:
        document = parse_json(decoded)
        event["object"] = None if isinstance(document, Fault) else document


def _complete(event: Object, kind: str) -> None:
    if kind == "up" or "data" in event:
        zeroes(event, "fCnt", "fPort", "dr")
        event["rxInfo"] = [dict(each) for each in objects_at(event, "rxInfo")]
        for received in objects_at(event, "rxInfo"):
            zeroes(received, "loRaSNR" if "loRaSNR" in received else "snr")
    if kind == "status":
        zeroes(event, "margin")
        if event.get("batteryLevelUnavailable") or event.get("externalPowerSource"):
            event["batteryLevel"] = None
        else:
            zeroes(event, "batteryLevel")


def _models(event: Object) -> tuple[str, ...]:
    """A tag `model` that somebody set, and the name of the profile, which often is the model's."""
    info = event.get("deviceInfo")
    named = (text_at(info, "tags", "model"), text_at(info, "deviceProfileName"))
    return tuple(filter(None, named))


def _propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    del memory
    topic = payload.message.topic
    levels = topic.split("/")
    if levels[:1] != ["application"] or levels[-2:-1] != ["event"]:
        return ()
    event = read(payload)
    if isinstance(event, Fault):
        return ()
    if levels[-1] == "up":
        return propose_uplink("chirpstack", event, payload, names)
    members = _MEMBERS.get(levels[-1])
    return propose_members("chirpstack", event, topic, members, names) if members else ()


def _compile(mappings: Sequence[Mapping]) -> LorawanAdapter:
    return LorawanAdapter(mappings, read)


FORMAT = Format(stateless(_compile), propose=_propose, alone=("application/+/device/+/event/+",))
