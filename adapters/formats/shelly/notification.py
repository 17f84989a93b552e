"""What a Shelly device publishes: notifications on `events/rpc`, components on `status/...`.

What the maker's script for Bluetooth sensors (Shelly BLU) emits as an event are values: they stand
in a component of the sensor, `blu:ADDRESS`.

Place on the way: decoding and discovery of the family read messages with it.
Sources: Shelly API documentation (Gen2+), RPC protocol, notifications; MQTT; the scripts
ble-shelly-blu.js of ALLTERCO/shelly-script-examples.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.adapter import Fault, FaultReason
from adapters.formats.shelly.components import BLUETOOTH
from adapters.values.device_time import read_time
from adapters.values.memory import Recent
from adapters.values.observation import USUAL, Circumstances, TimeSource
from adapters.values.payload import Json, Payload

EVENTS = "/events/rpc"
STATUS = "/status/"
MAX_DEVICES = 4096
_STATUSES = frozenset({"NotifyStatus", "NotifyFullStatus"})
_SUSPECT = Circumstances(TimeSource.DEVICE, clock_suspect=True)


@dataclass(frozen=True, slots=True)
class Frame:
    """A notification: `components` by key, `events`, its time and whether its clock is set."""

    components: dict[str, Json]
    events: tuple[dict[str, Json], ...] = ()
    time: datetime | Fault | None = None
    circumstances: Circumstances = USUAL


class Clocks:
    """Which devices have told that their clock is not set, or is again."""

    def __init__(self) -> None:
        self._unset = Recent[str, bool](MAX_DEVICES)

    def frame(self, payload: Payload) -> Frame | Fault:
        """The notification in a message; call it once a message (Payload.once)."""
        document = payload.document()
        if isinstance(document, Fault):
            return document
        if not isinstance(document, dict):
            return Fault(None, FaultReason.NOT_A_VALUE, "a Shelly message is an object")
        prefix, status, component = payload.message.topic.partition(STATUS)
        if status:
            return Frame({component: document}, circumstances=self._clock(prefix, document))
        return self._notified(payload.message.topic, document)

    def _notified(self, topic: str, document: dict[str, Json]) -> Frame | Fault:
        method, params = document.get("method"), document.get("params")
        if not isinstance(params, dict) or not isinstance(method, str):
            return Fault(None, FaultReason.MISSING, "neither method nor params of a notification")
        told = params.get("ts")
        time = read_time(told) if isinstance(told, str) else None
        circumstances = self._clock(topic, params.get("sys"))
        if method in _STATUSES:
            return Frame(params, (), time, circumstances)
        events = params.get("events") if method == "NotifyEvent" else None
        told_of = events if isinstance(events, list) else []
        found = [each for each in told_of if isinstance(each, dict)]
        return Frame(dict(_heard(found)), tuple(found), time, circumstances)

    def _clock(self, device: str, system: Json) -> Circumstances:
        if isinstance(system, dict) and "unixtime" in system:
            self._unset.put(device, system["unixtime"] is None)
        return _SUSPECT if self._unset.get(device) else USUAL


_BLU_EVENT = "shelly-blu"
_OF_THE_PACKET = frozenset(
    {"component", "id", "event", "ts", "data", "encryption", "BTHome_version", "pid", "address"}
)


def _heard(events: Sequence[dict[str, Json]]) -> Iterator[tuple[str, Json]]:
    """What sensors say; an older script has the values beside the name of the event."""
    for event in events:
        told = event.get("data")
        values = told if isinstance(told, dict) else event
        address = values.get("address")
        if event.get("event") == _BLU_EVENT and isinstance(address, str) and address:
            rest = {name: value for name, value in values.items() if name not in _OF_THE_PACKET}
            yield f"{BLUETOOTH}:{address}", rest
