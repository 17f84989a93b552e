"""`Guard`: what one member may do to this gateway; more than that closes the link to it.

    carrier -> admitted, counted -> Member: what it costs, what is wrong -> closed, with a reason

Place: between the carrier and the member, which it keeps from others' harm: a member may lie about
its own data and see what it may read, and nothing else. A closed link opens again by itself after a
while, which doubles each time; until then nothing of that member is read, and nothing is told it.
"""

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic, thread_time

from gateway.federation.limits import GuardLimits
from gateway.federation.wire import WireError
from gateway.runtime.alarms import AlarmKind, Condition

log = logging.getLogger(__name__)

_LIVES = 8
"""So many lives of a member are remembered."""

_FORGIVEN = 10.0
"""So many times the longest hold without a fault, and a member is as it never was closed."""


@dataclass(frozen=True, slots=True)
class Closed:
    """A link that is closed: why, and until when by the guard's clock."""

    reason: str
    until: float


@dataclass(slots=True)
class _Bucket:
    """What is left of a share that comes back evenly."""

    left: float
    at: float


@dataclass(slots=True)
class _Waiting:
    messages: int = 0
    bytes: int = 0


@dataclass(slots=True)
class _Past:
    """How often a link was closed, and when last."""

    times: int = 0
    at: float = field(default=-1.0)


class Guard:
    """One for all members; `admit` is for the carrier's threads, the rest for the member's."""

    def __init__(
        self, limits: GuardLimits | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        self.closings = Counter[str]()
        self._limits = limits or GuardLimits()
        self._clock = clock
        self._lock = Lock()
        self._waiting: dict[str, _Waiting] = {}
        self._closed: dict[str, Closed] = {}
        self._past: dict[str, _Past] = {}
        self._shares: dict[tuple[str, str], _Bucket] = {}
        self._lives: dict[str, deque[str]] = {}

    @property
    def closed(self) -> Mapping[str, str]:
        """The members whose link is closed, and why."""
        return {name: each.reason for name, each in list(self._closed.items())}

    def is_closed(self, member: str) -> bool:
        """Whether nothing is read of a member."""
        return member in self._closed

    def admit(self, member: str, size: int) -> bool:
        """Let a message of so many bytes wait to be taken; closes the link where too much does."""
        limits = self._limits
        with self._lock:
            if member in self._closed:
                return False
            waiting = self._waiting.setdefault(member, _Waiting())
            waiting.messages += 1
            waiting.bytes += size
            if waiting.messages <= limits.messages and waiting.bytes <= limits.bytes:
                return True
            waiting.messages -= 1
            waiting.bytes -= size
            told = f"{waiting.messages} messages of {waiting.bytes} bytes wait to be read"
        self.close(member, f"it sends without end: {told}")
        return False

    def taken(self, member: str, size: int) -> None:
        """Know that a message that was admitted waits no longer."""
        with self._lock:
            waiting = self._waiting[member]
            waiting.messages -= 1
            waiting.bytes -= size

    @contextmanager
    def working(self, member: str) -> Iterator[None]:
        """Count what a member's demand costs this thread. Raises WireError where it is too much."""
        begun = thread_time()
        yield
        self.spent(member, thread_time() - begun)

    def spent(self, member: str, seconds: float) -> None:
        """Count what a member's demands have cost. Raises WireError where it is too much."""
        limits = self._limits
        if self._is_spent("work", member, seconds, limits.work_s):
            raise WireError(
                f"what it asks for took {limits.work_s:g} s of work within {limits.window_s:g} s"
            )

    def spent_on_events(self, member: str, seconds: float) -> None:
        """Count what asking a member's queries of events has cost. Raises WireError as `spent`."""
        limits = self._limits
        if self._is_spent("events", member, seconds, limits.event_work_s):
            raise WireError(
                f"its queries of events took {limits.event_work_s:g} s of work within "
                f"{limits.window_s:g} s"
            )

    def missed(self, member: str) -> None:
        """Count that a stream of a member has a hole. Raises WireError where it is too often."""
        limits = self._limits
        if self._is_spent("misses", member, 1, limits.misses):
            raise WireError(
                f"its numbers jumped {limits.misses} times within {limits.window_s:g} s"
            )

    def lived(self, member: str, life: str) -> None:
        """Know of which life of a member something comes: one begins where another has ended.

        Raises WireError where one speaks again after the next one: two gateways have one id.
        """
        lives = self._lives.setdefault(member, deque(maxlen=_LIVES))
        if lives and lives[-1] == life:
            return
        if life in lives:
            raise WireError("two gateways speak in its name: a card or folder was copied")
        lives.append(life)

    def close(self, member: str, reason: str) -> None:
        """Read nothing more of a member for a while."""
        limits, now = self._limits, self._clock()
        past = self._past.setdefault(member, _Past())
        if past.times and now - past.at > _FORGIVEN * limits.longest_hold_s:
            past.times = 0
        hold_s = min(limits.hold_s * 2**past.times, limits.longest_hold_s)
        past.times, past.at = min(past.times + 1, 30), now
        self._closed[member] = Closed(reason, now + hold_s)
        self.closings[member] += 1
        log.error("federation_link_closed", extra={"peer": member, "reason": reason})

    def reopened(self) -> list[str]:
        """The members whose time is over: they are read again, with what was counted forgotten."""
        now = self._clock()
        due = [name for name, each in list(self._closed.items()) if each.until <= now]
        for name in due:
            self._forget_shares(name)
            self._lives.pop(name, None)
            del self._closed[name]
        return due

    def forget(self, member: str) -> None:
        """Have nothing of one that is a member no longer."""
        self._forget_shares(member)
        self._lives.pop(member, None)
        self._closed.pop(member, None)
        self._past.pop(member, None)

    def conditions(self) -> Iterator[Condition]:
        """A link that is closed, to be looked after."""
        for name, reason in self.closed.items():
            what = f"its link is closed for a while: {reason}"
            hint = (
                "see what runs there; it is read again by itself, after a longer time each time. "
                f"If it is not to be trusted: sosa-gateway federation remove {name}"
            )
            yield Condition(AlarmKind.FEDERATION, name, what, hint)

    def _is_spent(self, kind: str, member: str, amount: float, most: float) -> bool:
        """Take from a share of `most` within the window; whether that was more than is left."""
        now = self._clock()
        share = self._shares.setdefault((kind, member), _Bucket(most, now))
        share.left = min(most, share.left + (now - share.at) * most / self._limits.window_s)
        share.left, share.at = share.left - amount, now
        return share.left < 0

    def _forget_shares(self, member: str) -> None:
        for key in [key for key in self._shares if key[1] == member]:
            del self._shares[key]
