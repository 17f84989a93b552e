"""`EventPosition`: the place of a request among all requests of one gateway.

Place on the way of the data: beside `Position`, which counts observations. A request that is no
MQTT message has its place behind the last message that was applied before it. Positions of one
gateway are in the order of its requests, across restarts too, since each start begins an epoch;
those of two gateways are never compared.
"""

import re
from typing import NamedTuple, Self

from gateway.journal.record import Position

_FORM = re.compile(r"([0-9]+)-([0-9]+)\.([0-9]+)")
_LONGEST = 60
"""What has more characters is none of ours."""


class EventPosition(NamedTuple):
    """`request` requests behind the message whose last observation is `sequence`; 0: the message.

    >>> str(EventPosition.parse("1763-88.1"))
    '1763-88.1'
    >>> EventPosition(1763, 88, 1) > EventPosition(1763, 88, 0) > EventPosition(1762, 99, 7)
    True
    """

    epoch: int
    sequence: int
    request: int = 0

    def __str__(self) -> str:
        return f"{self.epoch}-{self.sequence}.{self.request}"

    @classmethod
    def of(cls, message: Position) -> Self:
        """The place of a message, by the position of its last observation."""
        return cls(message.epoch, message.sequence)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The reverse of `str`. Raises ValueError."""
        found = _FORM.fullmatch(text)
        if found is None or len(text) > _LONGEST:
            raise ValueError(f"{text!r:.60} is no position; one is like 1763740800-88.1")
        epoch, sequence, request = found.groups()
        return cls(int(epoch), int(sequence), int(request))

    @property
    def message(self) -> Position:
        """The position of the last observation before it."""
        return Position(self.epoch, self.sequence)
