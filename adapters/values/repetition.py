"""`LastResults`: the last result of each stream, for families that repeat what they cached.

Place on the way: in the Memory of such a family. Where the sender gives values no time of their
own, an equal value repeated is a heartbeat and no new observation. What is compared is the
observation's result, converted and in the mapping's words, so that the gateway can fill this again
from its store after a restart.
"""

from decimal import Decimal
from typing import NamedTuple

from adapters.values.memory import Recent
from adapters.values.observation import Observation, StreamKey
from adapters.values.result import NUMERIC
from adapters.values.units import UNIT

MAX_STREAMS = 50_000
_UNITLESS = UNIT + "UNITLESS"


class _Told(NamedTuple):
    lexical: str
    datatype: str
    unit: str | None

    def is_same(self, other: "_Told") -> bool:
        """Equal as a value: 21 is 21.0, and a store keeps 21.50 as 21.5."""
        if self == other:
            return True
        if self.unit != other.unit or not NUMERIC.issuperset((self.datatype, other.datatype)):
            return False
        return Decimal(self.lexical) == Decimal(other.lexical)


class LastResults:
    """The last results of MAX_STREAMS streams; one that was forgotten starts anew."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last = Recent[StreamKey, tuple[_Told, _Told | None]](MAX_STREAMS)

    def is_repeated(self, seen: Observation) -> bool:
        """Whether the stream's last result was the same."""
        last = self._last.get(seen.stream)
        return last is not None and last[0].is_same(_told(seen))

    def remember(self, seen: Observation) -> None:
        """Make `seen` the last result of its stream."""
        before = self._last.get(seen.stream)
        self._last.put(seen.stream, (_told(seen), None if before is None else before[0]))

    def refuse(self, seen: Observation) -> None:
        """Take back a result that was not believed: the one before it is the last again."""
        last = self._last.get(seen.stream)
        if last is None or last[0] != _told(seen):
            return
        self._last.pop(seen.stream)
        if last[1] is not None:
            self._last.put(seen.stream, (last[1], None))

    def forget(self, stream: StreamKey) -> None:
        """Forget a stream: whatever it tells next is new."""
        self._last.pop(stream)

    def knows(self, stream: StreamKey) -> bool:
        """Whether something of the stream was remembered."""
        return self._last.get(stream) is not None


def _told(seen: Observation) -> _Told:
    unit = None if seen.unit == _UNITLESS else seen.unit
    return _Told(seen.lexical, seen.datatype, unit)
