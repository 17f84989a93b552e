"""`SharedTopics`: which topics have turned out to be shared by devices that name themselves.

Place on the way: discovery's Memory. One message cannot tell; two on a topic that name different
devices do, and from then on proposals take the sensor from the message.
"""

from collections.abc import Sequence

from adapters.documents.json_path import member_step
from adapters.documents.leaves import IDENTITIES, Place, member_called
from adapters.values.memory import Recent
from adapters.values.payload import Json

MAX_TOPICS = 4096
_LONGEST_TOPIC = 512
_LONGEST_NAME = 128
_MODELS = ("model", "modelid", "type", "brand")


class SharedTopics:
    """For each topic the device that was named first, or the members by which they differ."""

    __slots__ = ("_first", "_shared")

    def __init__(self) -> None:
        self._first = Recent[str, tuple[str, ...]](MAX_TOPICS)
        self._shared = Recent[str, tuple[str, ...]](MAX_TOPICS)

    def members(self, topic: str, document: Json) -> Sequence[str]:
        """Paths that tell the devices of a topic apart; empty as long as there is one device."""
        if len(topic) > _LONGEST_TOPIC or not isinstance(document, dict):
            return ()
        found = _named(Place("$", document))
        if not found:
            return ()
        named = tuple(value for _, value in found)
        first = self._first.get(topic)
        if first is None:
            self._first.put(topic, named)
        elif len(first) == len(named) and first[-1] != named[-1]:
            self._shared.put(topic, tuple(path for path, _ in found))
        return self._shared.get(topic) or ()


def is_short(key: str) -> bool:
    """Whether a path to the member can stand in an IRI template."""
    return len(key) <= _LONGEST_NAME and not {"{", "}"} & set(key)


def _named(place: Place) -> list[tuple[str, str]]:
    """Path and text of the model, where there is one, and of what says which device it is."""
    device = member_called(place, IDENTITIES)
    if device is None:
        return []
    told = [each for each in (member_called(place, _MODELS), device) if each is not None]
    return [
        (place.path + member_step(key), value)
        for key, value in told
        if isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and is_short(key)
    ]
