"""What a person has to look after, as values: read when somebody asks, as measures are.

Each room says by a `Source` what is wrong there now; `gateway.admin.alarm_watch` notes since when,
and tells it once. A source is called each second in the event loop: it reads what is in memory.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from time import monotonic


class AlarmKind(StrEnum):
    """What sort of thing is wrong; docs/alarms.md says of each what it means and what to do."""

    ENDED = "ended"
    STALLED = "stalled"
    DISK = "disk"
    JOURNAL = "journal"
    SHIPPING = "shipping"
    BROKER = "broker"
    MODBUS = "modbus"
    CLOCK = "clock"
    PROFILES_REFUSED = "profiles_refused"
    BROKEN_MAPPING = "broken_mapping"
    BROKEN_RULE = "broken_rule"
    BROKEN_ACTUATOR = "broken_actuator"
    BROKEN_VIRTUAL_SENSOR = "broken_virtual_sensor"
    INVERTED_MAPPING = "inverted_mapping"
    UNKNOWN_UNIT = "unknown_unit"
    SUBSCRIPTION_FAILED = "subscription_failed"
    RETAINED = "retained"
    LIMIT = "limit"
    REASONING_SUSPENDED = "reasoning_suspended"
    FEDERATION = "federation"

    @property
    def is_of_node(self) -> bool:
        """Whether it is about a node of the graph of mappings, by its IRI."""
        return self in _OF_NODES


_OF_NODES = {
    AlarmKind.BROKEN_MAPPING,
    AlarmKind.BROKEN_RULE,
    AlarmKind.BROKEN_ACTUATOR,
    AlarmKind.BROKEN_VIRTUAL_SENSOR,
    AlarmKind.INVERTED_MAPPING,
    AlarmKind.UNKNOWN_UNIT,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is wrong now: `where` is an IRI, a setting, a path or an address.

    `kind` and `where` say which it is; the texts may change while it lasts. `is_fault`: the gateway
    does not do its work, and /health says so.
    """

    kind: AlarmKind
    where: str
    what: str
    what_to_do: str
    is_fault: bool = False


Source = Callable[[], Iterable[Condition]]


class Growth:
    """Whether a counter has grown of late: what bites now and then is one alarm, not many.

    >>> times = [0]
    >>> refused = Growth(lambda: times[0], hold_s=60.0, clock=lambda: 0.0)
    >>> refused.is_recent, times.append(times.pop() + 1), refused.is_recent
    (False, None, True)
    """

    def __init__(
        self,
        counter: Callable[[], float],
        hold_s: float = 60.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._counter = counter
        self._hold_s = hold_s
        self._clock = clock
        self._seen = counter()
        self._until = clock()

    @property
    def is_recent(self) -> bool:
        """Whether it grew within `hold_s` before this was asked; to be asked each second."""
        value, now = self._counter(), self._clock()
        if value != self._seen:
            self._seen, self._until = value, now + self._hold_s
        return now < self._until
