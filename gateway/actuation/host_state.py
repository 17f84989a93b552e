"""What the gateway says of itself at a broker: it is there, or by its last will it is not.

A Sparkplug edge node that has a primary host publishes as long as that host's STATE says online,
and gives its births again when it comes back. Source: Eclipse Sparkplug 3.0, section 5.4 (host
application session establishment).
"""

import json
from dataclasses import dataclass
from datetime import datetime

from adapters.sparkplug.host import NAMESPACE


@dataclass(frozen=True, slots=True)
class HostState:
    """A retained topic that says whether the gateway is there; `offline` is also its last will."""

    topic: str
    online: bytes
    offline: bytes


def sparkplug_host_state(host_id: str, started_at: datetime) -> HostState:
    """The STATE of a Sparkplug host application; both messages have one time, as 3.0 asks for.

    >>> from datetime import UTC
    >>> sparkplug_host_state("plant", datetime(2026, 3, 2, tzinfo=UTC)).online
    b'{"online":true,"timestamp":1772409600000}'
    """
    stamp = int(started_at.timestamp() * 1000)

    def state(online: bool) -> bytes:
        return json.dumps({"online": online, "timestamp": stamp}, separators=(",", ":")).encode()

    return HostState(f"{NAMESPACE}/STATE/{host_id}", state(True), state(False))
