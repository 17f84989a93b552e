"""What Zigbee2MQTT's bridge lists: `<base>/bridge/devices` and `<base>/bridge/groups`, retained.

Place on the way: discovery asks here. A group exposes what its members do, so the list of devices
is remembered; where that of groups comes first, it is understood with the next one.
"""

from collections.abc import Iterator, Mapping, Sequence

from adapters.adapter import Fault
from adapters.formats.zigbee2mqtt.exposes import of_device, of_group
from adapters.values.memory import Memory, Recent
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Names, Proposal

DEVICES, GROUPS = "/bridge/devices", "/bridge/groups"
MAX_BRIDGES = 64

Object = Mapping[str, Json]


class Bridges:
    """What the devices of each bridge expose, by base topic and IEEE address."""

    def __init__(self) -> None:
        self.exposed = Recent[str, dict[str, Json]](MAX_BRIDGES)


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """The proposals of all devices, or groups, in a list; empty for any other message."""
    topic = payload.message.topic
    if not topic.endswith((DEVICES, GROUPS)):
        return ()
    document = payload.document()
    if isinstance(document, Fault) or not isinstance(document, list):
        return ()
    base, _, which = topic.rpartition("/bridge/")
    entries = [each for each in document if isinstance(each, dict)]
    known = memory.of(Bridges).exposed
    if which == "devices":
        known.put(base, dict(_exposed(entries)))
        return [found for each in entries for found in of_device(base, each, names)]
    exposed = known.get(base) or {}
    return [found for each in entries for found in _of_group(base, each, exposed, names)]


def _exposed(devices: Sequence[Object]) -> Iterator[tuple[str, Json]]:
    for device in devices:
        address, definition = device.get("ieee_address"), device.get("definition")
        if isinstance(address, str) and isinstance(definition, dict):
            yield address, definition.get("exposes")


def _of_group(
    base: str, group: Object, exposed: Mapping[str, Json], names: Names
) -> Iterator[Proposal]:
    members = group.get("members")
    exposes: list[Json] = []
    for member in members if isinstance(members, list) else []:
        address = member.get("ieee_address") if isinstance(member, dict) else None
        found = exposed.get(address) if isinstance(address, str) else None
        exposes += found if isinstance(found, list) else []
    yield from of_group(base, group, exposes, names)
