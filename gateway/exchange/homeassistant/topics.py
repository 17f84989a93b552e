"""`Topics`: where announcements and states are published, and where Home Assistant says it is up.

Place on the way of the data: asked by the gates whether a message is one of ours, which is then
nobody's reading, whoever brought it here (a bridge, a broker that takes our mark off); told by them
what Home Assistant says of itself. Source: Home Assistant's documentation of MQTT discovery, "Birth
and last will messages".
"""

import re
from collections.abc import Callable
from hashlib import blake2b

from adapters.values.message import Message

ONLINE, OFFLINE = b"online", b"offline"
_NO_ID = re.compile(r"[^A-Za-z0-9_-]")


class Topics:
    """The topics of one gateway: `prefix` is that of announcements, `base` that of states.

    >>> topics = Topics("homeassistant", "sosa-gateway", "gw.1")
    >>> topics.config("sensor", topics.entity("urn:x"))
    'homeassistant/sensor/gw_1-b7f3a1e61c4daa302acb6320/config'
    """

    def __init__(self, prefix: str, base: str, gateway: str) -> None:
        self._prefix = f"{prefix}/"
        self._marked = f"/{_NO_ID.sub('_', gateway)}-"
        self._base = f"{base}/{gateway}/"
        self._own = re.compile(
            rf"{re.escape(prefix)}/\w+{re.escape(self._marked)}[0-9a-f]{{24}}/config"
        )
        self.birth = f"{prefix}/status"
        self.status = f"{self._base}status"
        self._listeners: list[Callable[[], None]] = []

    def entity(self, iri: str) -> str:
        """The id of what an IRI, or several texts as one, names."""
        digest = blake2b(iri.encode(), digest_size=12).hexdigest()
        return f"{self._marked[1:]}{digest}"

    def config(self, component: str, entity: str) -> str:
        """Where an entity is announced."""
        return f"{self._prefix}{component}/{entity}/config"

    def state(self, entity: str) -> str:
        """Where its state is told."""
        return f"{self._base}{entity.rpartition('-')[2]}/state"

    def is_config(self, topic: str) -> bool:
        """Whether something is announced there."""
        return self._own.fullmatch(topic) is not None

    def is_ours(self, topic: str) -> bool:
        """Whether we alone publish there; what comes from there is heard by nobody."""
        if topic.startswith(self._base):
            return True
        return self._marked in topic and self._own.fullmatch(topic) is not None

    def on_birth(self, listener: Callable[[], None]) -> None:
        """Have `listener` called in the event loop each time that Home Assistant comes up."""
        self._listeners.append(listener)

    def takes(self, topic: str) -> bool:
        """Whether a message to our own broker ends here: ours, and what Home Assistant is."""
        return topic == self.birth or self.is_ours(topic)

    async def accept(self, message: Message) -> None:
        """Take such a message."""
        self.heard(message.topic, message.payload)

    def heard(self, topic: str, payload: bytes) -> None:
        """In the event loop: something was published there."""
        if topic == self.birth and payload.strip() == ONLINE:
            for listener in self._listeners:
                listener()
