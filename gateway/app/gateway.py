"""`Gateway`: all parts put together and run; one object from start to clean stop.

Start: store, the profiles' mappings, replay of the journal, scheduler, ingest, own subscriptions,
gates. Stop is the reverse: gates first, then what is in the inbox is committed and acknowledged,
then the writer stops, so no part talks to one that is gone.
"""

import asyncio
import gc
import logging
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from types import TracebackType
from typing import Self

from starlette.routing import BaseRoute

from gateway.actuation.actuating import Actuating, ActuationContext
from gateway.actuation.consumer import Sender
from gateway.actuation.device_requests import DeviceRequests
from gateway.actuation.rules import Republisher
from gateway.admin.onboarding.onboarding import Onboarding
from gateway.admin.profile_reload import ProfileFiles, ProfileReload
from gateway.app.admin import inspection_routes
from gateway.app.health import Health, operations_gate
from gateway.app.http import open_ports
from gateway.app.measures import Parts, summary
from gateway.app.mqtt import BrokerLink, MqttContext, OtherBroker, OwnBroker
from gateway.app.onboarding import mappings_routes, onboarding_of
from gateway.app.security import Security, security
from gateway.app.shipping import shipper_of
from gateway.app.sparql import SparqlGates, load_limits, query_limits, remote_of
from gateway.app.subscribers import (
    Subscribing,
    identify_by,
    request_limits,
    server_settings,
    subscriber_limits,
)
from gateway.config.settings import Config
from gateway.engine import Engine, Limits, SubscribeRequest
from gateway.engine.performance import Performance
from gateway.gates.admin.actuators import ActuatorsGate
from gateway.gates.http.operations import Load
from gateway.gates.sparql.query_pool import QueryPool
from gateway.gates.subscriptions.event_stream import EventStreamGate
from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.gates.subscriptions.websocket import WebSocketGate
from gateway.ingest.current_state import CurrentState
from gateway.ingest.inbox import Inbox
from gateway.ingest.ingest import Ingest
from gateway.ingest.mappings import MappingTable
from gateway.ingest.plausibility import Plausibility
from gateway.ingest.quarantine import Quarantine
from gateway.ingest.raw_messages import RawMessages
from gateway.ingest.silence import Absences, AbsenceTemplates
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.journal import Journal, Origin, Upkeep
from gateway.profiles import Profiles
from gateway.runtime.clocks import SYSTEM_CLOCKS, Clocks
from gateway.runtime.cores import one_core
from gateway.runtime.loop_calls import LoopCalls
from gateway.runtime.open_files import raise_limit
from gateway.scheduler.scheduler import Scheduler, Sink

log = logging.getLogger(__name__)

_SWITCH_S = 0.001
"""Threads take turns this often, so that a busy scheduler does not hold up the event loop."""

_COLLECT = (50_000, 20, 100)
"""Garbage is looked for this seldom: readings leave none in cycles, and each look costs time."""


class Gateway:
    """A running gateway; an async context manager.

    >>> async def serve_for_ever(config: Config) -> None:
    ...     async with Gateway(config) as gateway:
    ...         await gateway.wait_closed()
    """

    scheduler: Scheduler
    mqtt_port: int
    http_port: int
    websocket_port: int

    def __init__(self, config: Config, clocks: Clocks = SYSTEM_CLOCKS) -> None:
        self._config = config
        self._clocks = clocks
        self._exit = AsyncExitStack()
        self._failure: asyncio.Future[None]
        self._parts: Parts
        self._security: Security
        self._subscribing: Subscribing
        self._actuating: Actuating

    async def __aenter__(self) -> Self:
        """Start everything. Raises ConfigurationError or StorageError with what to do."""
        sys.setswitchinterval(_SWITCH_S)
        raise_limit()
        gc.set_threshold(*_COLLECT)
        self._failure = asyncio.get_running_loop().create_future()
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

    async def wait_closed(self) -> None:
        """Wait until the gateway cannot go on; raises why. Cancel it to stop waiting."""
        await asyncio.shield(self._failure)

    def reload_profiles(self) -> None:
        """Have the files of the JSAP profiles read again soon, changed or not."""
        if self._parts.profiles is not None:
            self._parts.profiles.ask()

    def statistics(self) -> Mapping[str, int]:
        """The counters since the start that people look at first."""
        return summary(self._parts)

    async def _start(self, starting: AsyncExitStack) -> None:
        config = self._config
        loop_calls = LoopCalls(asyncio.get_running_loop())
        self._security = security(config)
        identity = Identity(config.gateway.base_iri, config.gateway.id)
        files = ProfileFiles(config.jsap.profiles, remote_of(config))
        profiles = files.load()
        engine = _open_engine(config)
        starting.enter_context(one_core())
        engine.store.apply(profiles.mappings_delta(engine.store, identity.node))
        journal = starting.enter_context(_open_journal(config, identity))
        self.scheduler = Scheduler(engine, urq=config.limits.urq, srq=config.limits.srq)
        inbox = Inbox(config.limits.inbox)
        mappings, plausibility = MappingTable(), Plausibility()
        ingest = self._ingest(
            inbox,
            journal,
            mappings=mappings,
            plausibility=plausibility,
            profiles=profiles,
            identity=identity,
        )
        ingest.recover(profiles.query_text)
        starting.enter_context(Upkeep(journal))
        if (shipper := shipper_of(config.shipping, journal)) is not None:
            starting.enter_context(shipper)
        await starting.enter_async_context(_in_thread(self.scheduler))
        for name, learn in (("MAPPINGS", mappings.learn), ("CAPABILITIES", plausibility.learn)):
            await self._learn(profiles, name, learn)
        self._parts = Parts(engine, self.scheduler, journal, inbox, ingest, shipper=shipper)
        onboarding = onboarding_of(config, self.scheduler, ingest, mappings, plausibility)
        self._parts.onboarding = onboarding
        await starting.enter_async_context(onboarding.run())
        await starting.enter_async_context(self._ingesting(ingest, inbox, loop_calls))
        await self._start_subscribing(starting, loop_calls)
        broker_link = self._broker_link(inbox, mappings, loop_calls, onboarding)
        publisher = self._parts.publisher = broker_link.publisher
        context = ActuationContext(
            self.scheduler, profiles, identity, journal, loop_calls, self._clocks
        )
        await self._start_actuating(starting, context, publisher)
        ingest.on_notices(DeviceRequests(publisher).hear)
        republisher = await self._start_republishing(starting, context)
        await self._start_reloading(starting, files, context, republisher)
        await starting.enter_async_context(self._listening(broker_link))
        for name, run in self._security.tasks().items():
            await starting.enter_async_context(self._task(run, name))
        await self._start_http(starting, engine, identity)
        self.scheduler.start_timers()

    def _ingest(
        self,
        inbox: Inbox,
        journal: Journal,
        *,
        mappings: MappingTable,
        plausibility: Plausibility,
        profiles: Profiles,
        identity: Identity,
    ) -> Ingest:
        config = self._config
        templates = ObservationTemplates(profiles, identity)
        return Ingest(
            inbox,
            self.scheduler,
            journal,
            mappings=mappings,
            present=CurrentState(templates, identity, config.store.latest),
            absences=Absences(AbsenceTemplates(profiles, identity), self._clocks.steady),
            plausibility=plausibility,
            quarantine=Quarantine(config.gateway.data_dir, config.limits.of_quarantine()),
            raw=RawMessages(config.limits.of_raw_messages()),
            future=timedelta(seconds=config.limits.future_s),
            now=self._clocks.now,
        )

    async def _learn(self, profiles: Profiles, query: str, sink: Sink) -> None:
        """Subscribe to our own engine; an UPDATE is answered when the sink has been told."""
        request = SubscribeRequest(profiles.query_text(query), is_prompt=True)
        await self.scheduler.subscribe(request, sink=sink)

    async def _start_reloading(
        self,
        starting: AsyncExitStack,
        files: ProfileFiles,
        around: ActuationContext,
        republisher: Republisher,
    ) -> None:
        """The files of the profiles are followed from now on."""
        reload = self._parts.profiles = ProfileReload(
            files,
            around.profiles,
            around.identity,
            scheduler=self.scheduler,
            ingest=self._parts.ingest,
            republisher=republisher,
            actuating=self._actuating,
        )
        await starting.enter_async_context(self._task(reload.run, "profiles"))

    def _republisher(self, around: ActuationContext) -> Republisher:
        """What it sends is in the journal, commands to actuators with their own line."""

        def sent(rule: str, topic: str, payload: bytes) -> None:
            if self._actuating.topics.actuator(topic) is None:
                around.journal.note(around.identity.actuation(rule, topic, payload))

        queries = {name: template.text for name, template in around.profiles.queries.items()}
        through = self._actuating.publisher_of_rules()
        return Republisher(self.scheduler, through, queries, around.loop_calls, sent)

    async def _start_republishing(
        self, starting: AsyncExitStack, around: ActuationContext
    ) -> Republisher:
        """Returns when the rules that there are are in force."""
        republisher = self._parts.republisher = self._republisher(around)
        await starting.enter_async_context(self._task(republisher.run, "republish"))
        await self._learn(around.profiles, "RULES", republisher.learn)
        await republisher.settled()
        return republisher

    async def _start_actuating(
        self, starting: AsyncExitStack, context: ActuationContext, publisher: Sender
    ) -> None:
        """Commands can be asked for from now on, and readings confirm them."""
        self._actuating = Actuating(context, publisher, self._config.actuation.limits())
        self._parts.actuating = self._actuating
        await starting.enter_async_context(self._actuating.learning(self._parts.ingest))
        run = self._actuating.consumer.run
        await starting.enter_async_context(self._task(run, "actuation"))

    async def _start_subscribing(self, starting: AsyncExitStack, loop_calls: LoopCalls) -> None:
        security = self._security
        limits = subscriber_limits(self._config)
        subscribers = await starting.enter_async_context(
            Subscribers(self.scheduler, loop_calls, limits, security.guard)
        )
        self._parts.subscribers = subscribers
        policies = None if security.authority is None else security.authority.policy
        self._subscribing = Subscribing(
            subscribers, self._config.mqtt.sparql_topic, identify_by(policies)
        )

    def _broker_link(
        self, inbox: Inbox, mappings: MappingTable, loop_calls: LoopCalls, onboarding: Onboarding
    ) -> BrokerLink:
        """Rules are in force before the first message: at another broker it may have waited."""
        context = MqttContext(
            self._config,
            self._clocks,
            inbox,
            loop_calls,
            self._security,
            self._subscribing,
            onboarding,
            lambda: self._actuating.topics,
            self._task,
        )
        if self._config.mqtt.mode == "external":
            other = OtherBroker(context, mappings)
            self._parts.external = other.publisher
            return other
        own = OwnBroker(context)
        self._parts.embedded = own.broker
        return own

    @asynccontextmanager
    async def _listening(self, broker_link: BrokerLink) -> AsyncIterator[None]:
        async with broker_link.listening():
            self.mqtt_port = broker_link.port
            yield

    async def _start_http(
        self, starting: AsyncExitStack, engine: Engine, identity: Identity
    ) -> None:
        config = self._config
        engine.rights_of = self._security.update_rights
        pool = starting.enter_context(QueryPool(engine.query, query_limits(config.limits)))
        subscribers = self._subscribing.subscribers
        self._parts.queries = pool
        load = self._parts.load = Load(load_limits(config.limits))
        health = Health.of(self._parts, config.gateway.data_dir)
        await starting.enter_async_context(self._task(health.vitals.run, "vitals"))
        guard = self._security.guard
        sparql = SparqlGates(self.scheduler, pool, config, guard)
        http_routes: list[BaseRoute] = [
            *sparql.routes(),
            *operations_gate(health, guard).routes(),
            *mappings_routes(self._parts.onboarding, guard, request_limits(config)),
            *inspection_routes(self._parts, guard, config),
            *ActuatorsGate(
                self._actuating,
                identity.actuation_iri(""),
                request_limits(config),
                guard,
            ).routes(),
        ]
        streams = EventStreamGate(subscribers, request_limits(config))
        socket_routes: list[BaseRoute] = [
            *WebSocketGate(subscribers).routes(),
            *streams.routes(),
            *self._security.routes(),
        ]
        server = self._security.server(server_settings(config))
        ports = await starting.enter_async_context(
            open_ports(config, server, load, http_routes, socket_routes)
        )
        self.http_port, self.websocket_port = ports.http, ports.websocket
        if ports.websocket != ports.http:
            sparql.subscribe_at(ports.websocket)
        starting.push_async_callback(streams.close)

    @asynccontextmanager
    async def _ingesting(
        self, ingest: Ingest, inbox: Inbox, loop_calls: LoopCalls
    ) -> AsyncIterator[None]:
        """The ingest thread; at the end it settles what the inbox still has."""

        def work() -> None:
            try:
                ingest.run()
            except Exception as error:  # told to whoever waits for the gateway
                log.exception("ingest_crashed")
                loop_calls.call(self._fail, error)

        thread = threading.Thread(target=work, name="ingest", daemon=True)
        thread.start()
        try:
            yield
        finally:
            inbox.close()
            ingest.stop()
            await asyncio.to_thread(thread.join)

    @asynccontextmanager
    async def _task(
        self, run: Callable[[], Coroutine[object, object, None]], name: str
    ) -> AsyncIterator[None]:
        task = asyncio.create_task(run(), name=name)
        task.add_done_callback(self._told)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})

    def _told(self, task: "asyncio.Task[None]") -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if not self._failure.done():
            self._failure.set_exception(error)


def _open_engine(config: Config) -> Engine:
    engine = Engine.open(
        config.gateway.data_dir / "store" if config.store.kind == "disk" else None,
        performance=Performance() if config.engine.performance else None,
        limits=Limits(config.limits.query_solutions, config.limits.query_s),
        workers=config.engine.workers,
        artq=config.engine.artq,
    )
    engine.store.remote = remote_of(config)
    return engine


def _open_journal(config: Config, identity: Identity) -> Journal:
    origin = Origin(identity.gateway, identity.base_iri)
    return Journal(config.gateway.data_dir / "journal", origin, config.journal.limits())


@asynccontextmanager
async def _in_thread(scheduler: Scheduler) -> AsyncIterator[None]:
    """Run the scheduler; wait for its end without holding up the loop that serves it."""
    scheduler.__enter__()
    try:
        yield
    finally:
        await asyncio.to_thread(scheduler.__exit__, None, None, None)
