"""What is asked when: due times, and how seldom what fails is tried again.

Place on the way of the data: the state of a bus, without I/O; times are seconds by the steady
clock. A device that does not answer is asked more and more seldom, and so is a request that it
refuses; neither changes when the others are asked.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf

from adapters.modbus.polls import Poll, PollKey, Request, Span
from gateway.gates.modbus.line import ILLEGAL_ADDRESS, ILLEGAL_VALUE, Answer

SILENT_AFTER = 3
"""Requests in a row without an answer: single frames get lost."""

MOST_PAUSE_S = 60.0
MOST_REFUSED_S = 300.0
_MOST_DOUBLINGS = 20


def pause_s(times: int, first_s: float, most_s: float) -> float:
    """The pause after so many failures: doubled by each, at most `most_s`, `first_s` at least.

    >>> [pause_s(times, 1.0, 60.0) for times in (1, 2, 3, 9)]
    [1.0, 2.0, 4.0, 60.0]
    """
    return max(first_s, min(most_s, first_s * 2.0 ** min(times - 1, _MOST_DOUBLINGS)))


@dataclass(slots=True)
class Health:
    """How a device answers; `silent` is why it does not, empty as long as it does."""

    failures: int = 0
    retry_s: float = -inf
    silent: str = ""

    def answered(self) -> bool:
        """Whether it was silent before."""
        was_silent = bool(self.silent)
        self.failures, self.retry_s, self.silent = 0, -inf, ""
        return was_silent

    def failed(self, why: str, now_s: float, interval_s: float) -> bool:
        """Whether it counts as silent from now on."""
        self.failures += 1
        beyond = self.failures - SILENT_AFTER + 1
        if beyond < 1:
            return False
        self.retry_s = now_s + pause_s(beyond + 1, interval_s, MOST_PAUSE_S)
        is_new = not self.silent
        self.silent = why
        return is_new


@dataclass(slots=True)
class Block:
    """A request, how often in a row it was refused, and what was told of it when."""

    request: Request
    refusals: int = 0
    retry_s: float = -inf
    told: dict[Span, tuple[Sequence[int], float]] = field(default_factory=dict)

    def refused(self, now_s: float, interval_s: float) -> None:
        """Be asked again later."""
        self.refusals += 1
        self.retry_s = now_s + pause_s(self.refusals, interval_s, MOST_REFUSED_S)

    def answered(self) -> None:
        """Be asked as usual."""
        self.refusals, self.retry_s = 0, -inf

    def news(
        self, words: Sequence[int], now_s: float, unchanged_s: float
    ) -> Iterator[tuple[int, Sequence[int]]]:
        """Addresses with the words to tell, of those read: all where `unchanged_s` is 0.

        Else the values that changed, and those that were told last longer ago.
        """
        first = self.request.address
        if not unchanged_s:
            yield first, words
            return
        for part in self.request.parts:
            now = words[part.address - first : part.end - first]
            before, told_s = self.told.get(part, ((), -inf))
            if now != before or now_s - told_s >= unchanged_s:
                self.told[part] = (now, now_s)
                yield part.address, now


@dataclass(slots=True)
class Polling:
    """A poll, and where it stands; `is_waiting` while its last message is not settled."""

    poll: Poll
    due_s: float
    blocks: deque[Block] = field(default_factory=deque)
    is_waiting: bool = False

    @classmethod
    def of(cls, poll: Poll, now_s: float) -> "Polling":
        """Due at once."""
        return cls(poll, now_s, deque(map(Block, poll.requests)))

    @property
    def key(self) -> PollKey:
        """Whose it is."""
        return self.poll.key

    def step(self, now_s: float, not_before_s: float) -> None:
        """Be due an interval later; what was missed is not caught up with."""
        interval_s = self.key.interval_s
        self.due_s += interval_s
        if self.due_s <= now_s:
            self.due_s = now_s + interval_s
        self.due_s = max(self.due_s, not_before_s)

    def blocks_due(self, now_s: float) -> Iterator[Block]:
        """What is asked now; the deque may be changed meanwhile."""
        return iter([block for block in self.blocks if block.retry_s <= now_s])

    def refuse(self, block: Block, answer: Answer, now_s: float) -> bool:
        """Take a refusal up; False where the request is asked again in two, to find whose it is."""
        is_of_place = answer.code in {ILLEGAL_ADDRESS, ILLEGAL_VALUE}
        if is_of_place and len(block.request.parts) > 1:
            self.blocks.remove(block)
            self.blocks.extend(map(Block, block.request.halves()))
            return False
        block.refused(now_s, self.key.interval_s)
        return True

    def tell_all(self) -> None:
        """Have every value told at the next time; from any thread."""
        for block in list(self.blocks):
            block.told.clear()

    def put_last(self, block: Block) -> None:
        """Ask the others first: it may be this request alone that is not answered."""
        self.blocks.remove(block)
        self.blocks.append(block)
