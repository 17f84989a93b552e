"""`TimedNet`: nodes that send each other bytes, in simulated time; a loopback carrier with a clock.

    a call or message, when it is due -> the node's own code -> what it sends, due a hop later

Place: below the peers of EventCloud, and the members of a fleet. Each node is a machine of its own:
it does one thing after the other, and that takes the CPU time that it takes here, or none. What it
sends leaves when it has finished, and needs `hop_s` to any other node. Messages between two nodes
keep their order. With `cost` at its default nothing depends on this machine.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

Call = Callable[[], object]


def nothing() -> float:
    """The clock of work that takes no time."""
    return 0.0


class Mark(NamedTuple):
    """Something that a node noted: when, and how many hops after the step that none led to."""

    what: str
    at_s: float
    hops: int


class _Due(NamedTuple):
    at_s: float
    number: int
    node: str
    call: Call
    hops: int


class _Sent(NamedTuple):
    to: str
    call: Call
    after_s: float
    hops: int


@dataclass(slots=True)
class TimedNet:
    """`messages` and `bytes` that were sent, `work_s` of each node; `cost` is a clock of CPU time.

    `begun` is when the step began that is done now: when it was due, and its node free.
    """

    hop_s: float
    cost: Callable[[], float] = nothing
    now: float = 0.0
    begun: float = 0.0
    messages: int = 0
    bytes: int = 0
    marks: list[Mark] = field(default_factory=list)
    work_s: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _due: list[_Due] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)
    _free_at: dict[str, float] = field(default_factory=dict)
    _node: str = ""
    _hops: int = 0
    _sent: list[_Sent] = field(default_factory=list)
    _started: float = 0.0

    def send(self, to: str, size: int, call: Call) -> None:
        """Have another node do something with a message of so many bytes, a hop later."""
        self.messages += 1
        self.bytes += size
        self._sent.append(_Sent(to, call, self.hop_s, self._hops + 1))

    def post(self, node: str, call: Call, after_s: float = 0.0) -> None:
        """Have a node do something by itself, behind what it does now."""
        self._sent.append(_Sent(node, call, after_s, self._hops))
        if not self._node:
            self._deliver(self.now)

    def mark(self, what: str) -> None:
        """Note something, as far within this step as it has come."""
        self.marks.append(Mark(what, self.begun + self.cost() - self._started, self._hops))

    def step(self) -> bool:
        """Do what is due next; False where nothing is."""
        if not self._due:
            return False
        due = heappop(self._due)
        self.now = max(self.now, due.at_s)
        self._do(due)
        return True

    def act(self, node: str, call: Call) -> None:
        """Have a node do something now, before what is due; not from within a step."""
        self._do(_Due(self.now, -1, node, call, 0))

    def run(self, until_s: float = float("inf")) -> None:
        """Do all that is due until then; without a time, until all nodes are free."""
        while self._due and self._due[0].at_s <= until_s:
            self.step()
        is_all = until_s == float("inf")
        self.now = max(self.now, *self._free_at.values(), 0.0) if is_all else max(self.now, until_s)

    def _do(self, due: _Due) -> None:
        """Do one thing once its node has done all before it, and have what it sends leave."""
        self.begun = max(due.at_s, self._free_at.get(due.node, 0.0))
        self._node, self._hops = due.node, due.hops
        self._started = self.cost()
        due.call()
        spent_s = self.cost() - self._started
        self._node = ""
        end = self._free_at[due.node] = self.begun + spent_s
        self.work_s[due.node] += spent_s
        self._deliver(end)
        self._hops = 0

    def _deliver(self, end: float) -> None:
        for to, call, after_s, hops in self._sent:
            heappush(self._due, _Due(end + after_s, next(self._numbers), to, call, hops))
        self._sent.clear()
