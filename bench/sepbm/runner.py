"""`Runner`: the publications one after the other, each as soon as the one before is done.

Place on the way of the data: between the configuration and an adapter. A publication is done when
the update is answered and every row that the reference names has come; where that takes too long
the run has failed. Then everything is deleted, and every row must go. Source: Murth et al.,
"Performance Testing of Semantic Publish/Subscribe Systems", sections 2 and 3.2.
"""

import gc
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from bench.sepbm.adapters.adapter import Adapter
from bench.sepbm.configuration import Configuration, Expected, Step
from bench.sepbm.reference import Reference

TIME_LIMIT_S = 60.0
"""How long a row may take after the answer to its publication."""

_TOLD_PROBLEMS = 10


@dataclass(slots=True)
class Run:
    """What one run brought.

    `rows` are (channel, ms from publication to notification), `publish_s` the seconds that each
    publication took, `settle_s` what was late at the end, `busy` the number and seconds of the
    publications that a channel had rows of. Times by
    wall clock, but where they are named CPU.
    """

    channels: Sequence[str] = ()
    rows: list[tuple[str, float]] = field(default_factory=list)
    publish_s: list[float] = field(default_factory=list)
    settle_s: float = 0.0
    publish_cpu_s: float = 0.0
    delete_cpu_s: list[float] = field(default_factory=list)
    busy: dict[str, list[float]] = field(default_factory=lambda: defaultdict(lambda: [0, 0.0]))
    late: Counter[str] = field(default_factory=Counter)
    expected: int = 0
    first_answers_s: float = 0.0
    components_ms: dict[str, float] | None = None
    guessed: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    memory_bytes: int | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The whole time of the publications."""
        return sum(self.publish_s) + self.settle_s

    @property
    def is_complete(self) -> bool:
        """Whether exactly the expected rows came and went."""
        return not self.problems and len(self.rows) == self.expected


@dataclass(frozen=True, slots=True)
class _Due:
    """A row that must come or go: since when, s, and with which publication."""

    started: float
    step: int


Arrival = tuple[str, Sequence[Sequence[object]], Sequence[Sequence[object]], float]


class Runner:
    """One adapter with its data; every `run` has channels of its own."""

    def __init__(
        self,
        adapter: Adapter,
        configuration: Configuration,
        reference: Reference,
        time_limit_s: float = TIME_LIMIT_S,
    ) -> None:
        self._adapter = adapter
        self._configuration = configuration
        self._reference = reference
        self._time_limit_s = time_limit_s
        self._arrived: deque[Arrival] = deque()
        self._count = 0

    def run(self, queries: Mapping[str, str], number: int | None = None) -> Run:
        """The first `number` publications, or all, with these channels."""
        self._run, self._due = (
            Run(list(queries)),
            defaultdict[tuple[bool, Expected], list[_Due]](list),
        )
        adapter = self._adapter
        cpu_s = adapter.cpu_s()
        for name, text in queries.items():
            adapter.create_channel(name, text)
            adapter.subscribe(name, self._tell)
        self._run.first_answers_s = adapter.cpu_s() - cpu_s
        gc.collect()
        gc.freeze()  # as in a process that has run for long: what stays is not looked at again
        steps = list(self._configuration.steps(number))
        last = max(n for n, step in enumerate(steps) if step.kind == "publish")
        for index, step in enumerate(steps):
            self._step(index, step, queries)
            if index == last:
                self._settle(index)
            if self._run.problems and not adapter.may_be_late:
                break
        self._report_missing()
        self._run.guessed, self._run.memory_bytes = adapter.guessed(), adapter.memory_bytes()
        for name in queries:
            adapter.unsubscribe(name)
            adapter.delete_channel(name)
        return self._run

    def _tell(
        self,
        channel: str,
        added: Iterable[Sequence[object]],
        removed: Iterable[Sequence[object]],
        at: float,
    ) -> None:
        gained, lost = list(added), list(removed)
        self._count += len(gained) + len(lost)
        self._arrived.append((channel, gained, lost, at))

    def _step(self, index: int, step: Step, queries: Mapping[str, str]) -> None:
        adapter, run = self._adapter, self._run
        graph = self._configuration.publications[step.publication].graph
        expected = [row for row in self._reference[step.publication] if row[0] in queries]
        request = adapter.prepare(graph, insert=step.inserts)
        before = adapter.components_ms()
        self._count = 0
        cpu_s, started = adapter.cpu_s(), perf_counter()
        for row in expected:
            self._due[step.inserts, row].append(_Due(started, index))
        started = perf_counter()
        (adapter.publish if step.inserts else adapter.delete)(request)
        answered = perf_counter()
        self._await(len(expected))
        cpu_s = adapter.cpu_s() - cpu_s
        done = max([answered, *(at for _, _, _, at in self._arrived)])
        if step.kind == "publish":
            run.publish_s.append(done - started)
            run.publish_cpu_s += cpu_s
            run.expected += len(expected)
            self._count_busy(expected, started)
            self._add_components(before)
        elif step.kind == "delete":
            run.delete_cpu_s.append(cpu_s)
        self._take(index, started)
        if not adapter.may_be_late:
            self._report_missing()

    def _await(self, expected: int) -> None:
        """Wait for so many rows, where they come by themselves."""
        until = perf_counter() + self._time_limit_s
        while self._count < expected and (left := until - perf_counter()) > 0:
            if not self._adapter.wait(left):
                break

    def _settle(self, index: int) -> None:
        """What is late at the end; it is part of the publications' time."""
        cpu_s, started = self._adapter.cpu_s(), perf_counter()
        if self._adapter.settle():
            self._run.settle_s = perf_counter() - started
            self._run.publish_cpu_s += self._adapter.cpu_s() - cpu_s
            self._take(index, started)

    def _take(self, index: int, started: float) -> None:
        """Compare what arrived with what is due."""
        while self._arrived:
            channel, added, removed, at = self._arrived.popleft()
            for inserted, rows in ((True, added), (False, removed)):
                for row in rows:
                    self._take_row(inserted, (channel, tuple(map(str, row))), at, index, started)

    def _take_row(
        self, inserted: bool, row: Expected, at: float, index: int, started: float
    ) -> None:
        due = self._due.get((inserted, row))
        if not due:
            self._problem("unexpected", inserted, row)
            return
        first = due.pop(0)
        if not due:
            del self._due[inserted, row]
        if not inserted:
            return
        begun = started if first.step == index else first.started
        self._run.rows.append((row[0], (at - begun) * 1e3))
        self._run.late[row[0]] += first.step != index

    def _count_busy(self, expected: Sequence[Expected], started: float) -> None:
        """A channel's share: from the publication to the channel's last row."""
        ends = {channel: at for channel, added, _, at in self._arrived if added}
        for channel in {name for name, _ in expected} & set(ends):
            busy = self._run.busy[channel]
            busy[0] += 1
            busy[1] += ends[channel] - started

    def _add_components(self, before: Mapping[str, float] | None) -> None:
        after = self._adapter.components_ms()
        if before is None or after is None:
            return
        totals: Any = self._run.components_ms or dict.fromkeys(after, 0.0)
        for name, value in after.items():
            totals[name] += value - before[name]
        self._run.components_ms = totals

    def _report_missing(self) -> None:
        for (inserted, row), due in self._due.items():
            for _ in due:
                self._problem("missing", inserted, row)
        self._due.clear()

    def _problem(self, what: str, inserted: bool, row: Expected) -> None:
        if len(self._run.problems) < _TOLD_PROBLEMS:
            sign = "+" if inserted else "-"
            self._run.problems.append(f"{what}: {row[0]} {sign} {' '.join(row[1])}")
