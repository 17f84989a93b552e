"""Availability: last wills and birth words, and whose streams they are about.

Place on the way: families read `online` and `offline` with it; the registry hears the topic that a
mapping names as its `availability_topic` with it.
"""

from collections.abc import Iterable, Sequence

from adapters.adapter import Fault, FaultReason, Findings
from adapters.values.fault import excerpt
from adapters.values.memory import Recent
from adapters.values.notice import Liveness
from adapters.values.observation import StreamKey
from adapters.values.payload import Payload
from adapters.values.stream import Stream

WORDS = {
    **dict.fromkeys(("online", "true", "on", "1", "connected", "available", "alive"), True),
    **dict.fromkeys(("offline", "false", "off", "0", "disconnected", "unavailable", "lost"), False),
}
"""The usual words, in small letters."""

MAX_DEVICES = 4096
MAX_STREAMS = 512
"""The most streams that are remembered of one device."""


def read_availability(payload: Payload) -> bool | Fault | None:
    """What a bare word, or an object with a member `state`, says; None for a cleared topic."""
    if not payload.raw:
        return None
    text = payload.text()
    if isinstance(text, Fault):
        return text
    if text.lstrip().startswith("{"):
        document = payload.document()
        if isinstance(document, Fault):
            return document
        state = document.get("state") if isinstance(document, dict) else None
        text = state if isinstance(state, str) else ""
    known = WORDS.get(text.strip().lower())
    if known is None:
        detail = f"{excerpt(text)} is neither online nor offline"
        return Fault(None, FaultReason.NOT_A_VALUE, detail)
    return known


def availability_findings(payload: Payload, keys: Iterable[StreamKey]) -> Findings:
    """Liveness of each of the streams; a word that means nothing is one fault."""
    is_online = read_availability(payload)
    if isinstance(is_online, Fault):
        return Findings.of_fault(is_online)
    if is_online is None:
        return Findings()
    return Findings(notices=[Liveness(key, is_online) for key in dict.fromkeys(keys)])


class AvailabilityAdapter:
    """Messages on the availability topic of mappings; `streams` are theirs."""

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """One liveness notice for every stream of the topic, if the payload is such a word."""
        return availability_findings(payload, (stream.key for stream in streams))


class KnownStreams:
    """Which streams a device has been heard with, bounded.

    The last will of a device names the device; with wildcards in a mapping's filter only what was
    heard tells which streams that are.
    """

    __slots__ = ("_devices",)

    def __init__(self) -> None:
        self._devices = Recent[str, dict[StreamKey, None]](MAX_DEVICES)

    def hear(self, device: str, key: StreamKey) -> None:
        """Remember that the device has this stream."""
        known = self._devices.get(device)
        if known is None:
            known = {}
            self._devices.put(device, known)
        if len(known) < MAX_STREAMS:
            known[key] = None

    def of(self, device: str) -> Iterable[StreamKey]:
        """The streams that the device was heard with."""
        return tuple(self._devices.get(device) or ())
