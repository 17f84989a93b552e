"""The alarms put together: what each room can say is wrong, watched, told and written.

Built once at the start, when the parts are there that they are about.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway import __version__
from gateway.admin.alarm_graph import AlarmGraph
from gateway.admin.alarm_watch import AlarmWatch
from gateway.admin.mapping_alarms import MappingAlarms
from gateway.admin.mapping_graph import EVERYTHING, MappingGraph
from gateway.admin.reasoning import reasoning_alarms
from gateway.admin.self_report import Said, SelfReport
from gateway.app.stages import Stages
from gateway.app.tasks import Run, Tasks
from gateway.app.vitals import Vitals
from gateway.engine import SubscribeRequest
from gateway.engine.measures import engine_alarms
from gateway.exchange.homeassistant.measures import publisher_alarms
from gateway.gates.modbus.measures import modbus_alarms
from gateway.journal.measures import journal_alarms
from gateway.runtime.alarms import AlarmKind, Condition, Growth, Source
from gateway.runtime.clocks import FIRST, Clocks
from gateway.runtime.measures import Measure
from gateway.shipping.measures import shipping_alarms

_COUNTED = ("observations", "updates", "notifications", "quarantined", "failed")
_JUMP_S = 60.0
_TOLD_S = 900.0


@dataclass(frozen=True, slots=True)
class Alarming:
    """What is wrong now, and what an UPDATE made wrong."""

    watch: AlarmWatch
    vitals: Vitals
    mappings: MappingAlarms
    report: SelfReport

    def measures(self) -> tuple[Measure, ...]:
        """How many alarms there are, and were."""
        return (
            Measure("alarms", "alarms now", self.watch.counts, is_counter=False, label="kind"),
            Measure("alarms_raised", "alarms since the start", lambda: self.watch.raised),
            Measure("alarms_cleared", "of these, those that ended", lambda: self.watch.cleared),
        )


@asynccontextmanager
async def alarming(
    stages: Stages, vitals: Vitals, clocks: Clocks, tasks: Tasks, report: SelfReport
) -> AsyncIterator[Alarming]:
    """Watch as long as the context lasts; the graph of alarms is empty at first."""
    scheduler, identity = stages.storage.scheduler, stages.storage.identity
    nodes = MappingGraph(scheduler.engine.store)
    request = SubscribeRequest(EVERYTHING, is_prompt=True)
    await scheduler.subscribe(request, sink=nodes.learn)
    control = stages.control
    mappings = MappingAlarms(
        nodes, stages.reception.mappings, control.actuating.actuators, control.republisher
    )
    sources = (vitals.conditions, *_sources(stages, clocks), mappings.conditions)
    watch, graph = AlarmWatch(sources, clocks.now), AlarmGraph(scheduler, identity)
    await graph.empty()
    graph.follow(watch)
    tasked: Mapping[str, Run] = {
        "vitals": vitals.run,
        "alarms": graph.run,
        "watch": watch.run,
        "report": report.run,
    }
    life: Said = {"version": __version__, "epoch": stages.storage.journal.epoch}
    async with report.kept(life), AsyncExitStack() as running:
        report.follow(watch)
        for name, run in tasked.items():
            await running.enter_async_context(tasks.task(run, name))
        yield Alarming(watch, vitals, mappings, report)


def self_report(stages: Stages, folder: Path, clocks: Clocks) -> SelfReport:
    """What a gateway with its data in `folder` notes of itself."""
    began, space = clocks.steady(), stages.storage.journal.space

    def facts() -> Mapping[str, float]:
        counted = stages.summary()
        return {
            "uptime_s": round(clocks.steady() - began),
            **{name: counted[name] for name in _COUNTED},
            "journal_bytes": space.taken,
            "free_bytes": space.free,
        }

    return SelfReport(folder / "health.jsonl", clocks.now, facts)


def _sources(stages: Stages, clocks: Clocks) -> Sequence[Source]:
    storage = stages.storage
    return (
        journal_alarms(storage.journal),
        shipping_alarms(storage.shipper),
        engine_alarms(storage.engine),
        reasoning_alarms(storage.engine),
        stages.broker.alarms(),
        modbus_alarms(stages.modbus),
        *federation_alarms(stages),
        *_publisher_alarms(stages),
        ClockSanity(clocks).conditions,
        lambda: _stored(stages),
        lambda: _profiles(stages),
    )


def federation_alarms(stages: Stages) -> Sequence[Source]:
    """What is wrong among gateways, where there are several."""
    federation = stages.subscribing.federation
    return () if federation is None else (federation.conditions,)


def _publisher_alarms(stages: Stages) -> Sequence[Source]:
    """What is wrong with what Home Assistant is told, where it is."""
    publisher = stages.homeassistant
    return () if publisher is None else (publisher_alarms(publisher),)


def _stored(stages: Stages) -> Iterator[Condition]:
    """What the disks of store and quarantine do not take."""
    store, quarantine = stages.storage.engine.store, stages.reception.quarantine
    hint = "make room, or have the disk writable again: it is tried again by itself"
    if store.alarm:
        yield Condition(AlarmKind.DISK, "store", store.alarm, hint, is_fault=True)
    if quarantine.alarm:
        yield Condition(AlarmKind.DISK, "quarantine", quarantine.alarm, hint)


def _profiles(stages: Stages) -> Iterator[Condition]:
    if error := stages.control.reload.error:
        hint = "correct the files, which are read again then: sosa-gateway check"
        yield Condition(AlarmKind.PROFILES_REFUSED, "[jsap] profiles", error, hint)


def limit_alarms(refused: dict[str, tuple[str, Callable[[], float]]]) -> Source:
    """Limits that refused somebody within the last minute: by setting, what is refused, counted."""
    grown = {setting: Growth(counter) for setting, (_, counter) in refused.items()}

    def look() -> Iterator[Condition]:
        for setting, growth in grown.items():
            if growth.is_recent:
                hint = "look who asks so much (/metrics, /health), or raise it"
                yield Condition(AlarmKind.LIMIT, setting, refused[setting][0], hint)

    return look


class ClockSanity:
    """Whether the wall clock can be right: a small computer without a battery wakes up in 1970."""

    def __init__(self, clocks: Clocks) -> None:
        self._clocks = clocks
        self._offset_s = self._offset_now()
        self._jump = ""
        self._until = clocks.steady()

    def conditions(self) -> Iterator[Condition]:
        """A time that nobody has set, or a jump within a quarter of an hour."""
        now, offset_s, steady_s = self._clocks.now(), self._offset_now(), self._clocks.steady()
        if abs(offset_s - self._offset_s) > _JUMP_S:
            self._jump = f"it jumped by {offset_s - self._offset_s:+.0f} s to {now:%Y-%m-%d %H:%M}"
            self._until = steady_s + _TOLD_S
        self._offset_s = offset_s
        if not self._clocks.is_set(now):
            why = "is long ago" if now < FIRST else "nobody has set since the start"
            what = f"it says {now:%Y-%m-%d %H:%M}, which {why}"
            yield Condition(AlarmKind.CLOCK, "clock", what, _SET_IT)
        elif steady_s < self._until:
            what = f"{self._jump}; what was measured before may have a wrong time"
            yield Condition(AlarmKind.CLOCK, "clock", what, _SET_IT)

    def _offset_now(self) -> float:
        return self._clocks.now().timestamp() - self._clocks.steady()


_SET_IT = "let it be set by NTP: timedatectl set-ntp true; timedatectl status"
