"""`Gateway`: all parts put together and run; one object from start to clean stop.

Start: store, the profiles' mappings, replay of the journal, scheduler, ingest, own subscriptions,
gates. Stop is the reverse: gates first, then what is in the inbox is committed and acknowledged,
then the writer stops, so no part talks to one that is gone.
"""

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from adapters.modbus.polls import FORMAT_NAME
from gateway.app.alarms import alarming, self_report
from gateway.app.brokers.link import broker_link
from gateway.app.brokers.mqtt import MqttContext
from gateway.app.control import control_of
from gateway.app.health import vitals_of
from gateway.app.homeassistant import publisher_of, publishing, taken_by, topics_of
from gateway.app.keeping import keeping_gate, prepare_data
from gateway.app.logs import kept_log
from gateway.app.onboarding import onboarding_of
from gateway.app.reception import Reception
from gateway.app.security import Security, security
from gateway.app.sensorthings import begin_telling, indexing_of, telling_of
from gateway.app.serving.http import serving
from gateway.app.stages import Stages
from gateway.app.storage import open_storage
from gateway.app.subscribers import Beside, subscribing
from gateway.app.tasks import Tasks
from gateway.config.settings import Config
from gateway.gates.modbus.gate import ModbusGate
from gateway.runtime.clocks import SYSTEM_CLOCKS, Clocks
from gateway.runtime.loop_calls import LoopCalls
from gateway.runtime.process import keep_heaps_together, keep_memory_small, raise_limit
from gateway.runtime.pulse import Pulse
from gateway.scheduler.scheduler import Scheduler

_SWITCH_S = 0.001
"""Threads take turns this often, so that a busy scheduler does not hold up the event loop."""

_COLLECT = (20_000, 10, 500)
"""Garbage is looked for this seldom: readings leave none in cycles, and each look costs time.

But never among many new ones at once: all threads wait, and a window is filled with a million.
"""


async def _at_once() -> None:
    """Nobody has to be waited for."""


class Gateway:
    """A running gateway; an async context manager. `stages` are its parts, once it has started.

    >>> async def serve_for_ever(config: Config) -> None:
    ...     async with Gateway(config) as gateway:
    ...         await gateway.wait_closed()
    """

    stages: Stages
    mqtt_port: int
    http_port: int
    websocket_port: int

    def __init__(
        self,
        config: Config,
        clocks: Clocks = SYSTEM_CLOCKS,
        starting: Callable[[str], None] = lambda _stage: None,
        *,
        settings: Path | None = None,
        may_serve: Callable[[], Awaitable[None]] = _at_once,
        start_anew: Callable[[], None] | None = None,
    ) -> None:
        """`starting` is told the name of each stage when it begins.

        `settings` is the file that the configuration is from. When all but what listens is there,
        `may_serve` is waited for. `start_anew` ends it where somebody starts it again.
        """
        self._config = config
        self._clocks = clocks
        self._starting = starting
        self._settings = settings
        self._may_serve = may_serve
        self._start_anew = start_anew
        self._exit = AsyncExitStack()
        self._tasks: Tasks

    async def __aenter__(self) -> Self:
        """Start everything. Raises ConfigurationError or StorageError with what to do."""
        sys.setswitchinterval(_SWITCH_S)
        raise_limit()
        keep_heaps_together()
        gc.set_threshold(*_COLLECT)
        prepare_data(self._config)
        self._tasks = Tasks()
        async with AsyncExitStack() as starting:
            await self._start(starting)
            self._exit = starting.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._exit.aclose()

    @property
    def scheduler(self) -> Scheduler:
        """The one that writes."""
        return self.stages.storage.scheduler

    def pulses(self) -> tuple[Pulse, ...]:
        """Pulses of the threads that the data passes: ingest, scheduler, journal."""
        storage = self.stages.storage
        return (self.stages.reception.ingest.pulse, storage.scheduler.pulse, *storage.upkeep.pulses)

    async def wait_closed(self) -> None:
        """Wait until the gateway cannot go on; raises why. Cancel it to stop waiting."""
        await self._tasks.failed()

    def reload_profiles(self) -> None:
        """Have the files of the JSAP profiles read again soon, changed or not."""
        self.stages.control.reload.ask()

    def statistics(self) -> Mapping[str, int]:
        """The counters since the start that people look at first."""
        return self.stages.summary()

    async def _start(self, starting: AsyncExitStack) -> None:
        config, clocks, tasks = self._config, self._clocks, self._tasks
        enter = starting.enter_async_context
        log = starting.enter_context(kept_log())
        loop_calls, guarded = LoopCalls(asyncio.get_running_loop()), security(config)
        self._starting("store")
        storage = starting.enter_context(open_storage(config, clocks))
        reception = Reception(config, clocks, storage)
        kept = starting.enter_context(reception.keeping_events(config))
        await enter(storage.running())
        await reception.learn()
        self._starting("mappings")
        onboarding = onboarding_of(config, lambda: control.reload.profiles, reception, clocks)
        await enter(onboarding.run())
        await enter(reception.running(loop_calls, tasks))
        overtaken = reception.later_epoch(kept).go_on_behind
        beside = Beside(loop_calls, guarded, clocks, tasks, kept, overtaken)
        subscribed = await enter(subscribing(config, storage.scheduler, beside))
        modbus = ModbusGate(config.modbus.buses, reception.inbox, clocks)
        around = (config, clocks, reception, loop_calls, guarded, subscribed, onboarding, tasks)
        topics, told = topics_of(config), telling_of(config, storage, loop_calls)
        context = MqttContext(*around, taken_by(topics, modbus.is_ours, told.is_ours), topics)
        broker = broker_link(context)
        control = control_of(
            *(config, clocks, storage, reception),
            publisher=broker.publisher,
            senders={FORMAT_NAME: modbus},
            loop_calls=loop_calls,
            federation=subscribed.federation,
        )
        # Rules are in force before the first message: at another broker it may have waited.
        await enter(control.running(reception, storage, tasks))
        keeping = keeping_gate(config, storage, self._settings, self._start_anew)
        self.stages = Stages(
            *(storage, reception, onboarding, subscribed, broker, modbus, control, log, keeping),
            *(told, indexing_of(storage), kept, publisher_of(context, storage, control)),
        )
        await self._listen(starting, loop_calls)
        await self._serve(starting, guarded)

    async def _listen(self, starting: AsyncExitStack, loop_calls: LoopCalls) -> None:
        """Take messages of devices from now on."""
        stages, enter = self.stages, starting.enter_async_context
        await self._may_serve()
        stages.keep_up()
        self._starting("broker")
        await enter(stages.broker.listening(stages.control.actuating.topics))
        self.mqtt_port = stages.broker.port
        await enter(publishing(stages, self._tasks))
        mappings = stages.reception.mappings
        await enter(stages.modbus.running(mappings, loop_calls, self._tasks.task))

    async def _serve(self, starting: AsyncExitStack, guarded: Security) -> None:
        """Watch over all that has started, and let people in."""
        config, stages, enter = self._config, self.stages, starting.enter_async_context
        for name, run in guarded.tasks().items():
            await enter(self._tasks.task(run, name))
        vitals = vitals_of(stages, config.gateway.data_dir)
        report = self_report(stages, config.gateway.data_dir, self._clocks)
        alarms = await enter(alarming(stages, vitals, self._clocks, self._tasks, report))
        self._starting("HTTP and WebSocket")
        ports = await enter(serving(config, stages, alarms, guarded, self._clocks))
        self.http_port, self.websocket_port = ports.http, ports.websocket
        begin_telling(config, stages, ports.http)
        stages.storage.scheduler.start_timers()
        await enter(self._tasks.task(keep_memory_small, "memory"))
        await enter(self._tasks.task(stages.storage.flush_at_rest, "rest"))
        await stages.onboarding.warn()
