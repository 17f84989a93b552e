"""The federation as the configuration has it: its service, its links, who is in it.

[federation] via -> certificates, roster -> links that change with them; peers at -> fixed links
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from gateway.app.federation.members import (
    listening,
    membership_folder,
    own_entry,
    zenoh_links,
)
from gateway.app.tasks import Tasks
from gateway.config.settings import Config
from gateway.engine import Limits
from gateway.federation.member import MemberSettings
from gateway.federation.membership.door import Door
from gateway.federation.membership.keeper import Keeper, Own
from gateway.federation.membership.links import MemberLinks
from gateway.federation.service import FederationService
from gateway.federation.watching.alarms import away_alarms
from gateway.federation.watching.graph import FederationGraph
from gateway.federation.zenoh_carrier import Endpoints, ZenohCarrier, require_zenoh
from gateway.ingest.compound.events_kept import EventsKept
from gateway.journal.event_position import EventPosition
from gateway.runtime.alarms import Condition
from gateway.scheduler.scheduler import Scheduler

Kept = EventsKept | None
"""Where the events of requests are kept, where they are."""

GoOnBehind = Callable[[EventPosition], None] | None
"""Has this gateway give positions behind one that others know of it."""


@dataclass(frozen=True, slots=True)
class Federation:
    """The service; all else is None between gateways of one machine."""

    service: FederationService
    links: MemberLinks | None = None
    keeper: Keeper | None = None
    door: Door | None = None

    def conditions(self) -> Iterator[Condition]:
        """What a person has to look after."""
        yield from self.service.guard.conditions()
        yield from away_alarms(lambda: self.service.status)()
        if self.keeper is not None:
            yield from self.keeper.conditions()
        if self.door is not None:
            yield from self.door.conditions()


@asynccontextmanager
async def federating(
    config: Config,
    scheduler: Scheduler,
    now: Callable[[], datetime],
    tasks: Tasks,
    *,
    kept: Kept = None,
    overtaken: GoOnBehind = None,
) -> AsyncIterator[Federation | None]:
    """The federation, where that is set. Raises ConfigurationError."""
    settings = config.federation
    if not settings.is_on:
        yield None
        return
    require_zenoh()
    member = _member(config, kept, overtaken)
    async with AsyncExitStack() as stack:
        if settings.via:
            yield await _by_roster(config, scheduler, now, tasks, stack, member=member)
        else:
            yield await _of_one_machine(config, scheduler, stack, tasks, member=member)


async def _of_one_machine(
    config: Config,
    scheduler: Scheduler,
    stack: AsyncExitStack,
    tasks: Tasks,
    *,
    member: MemberSettings,
) -> Federation:
    """Without certificates, so Endpoints holds it to the loopback interface."""
    settings = config.federation
    endpoints = Endpoints((settings.listen,), tuple(peer.at for peer in settings.peers.values()))
    carrier = ZenohCarrier(config.gateway.id, settings.peers, endpoints)
    service = FederationService(
        config.gateway.id,
        settings.peers,
        scheduler,
        carrier,
        settings=member,
        limits=settings.service(),
    )
    await _run(service, scheduler, stack, tasks)
    return Federation(service)


async def _run(
    service: FederationService, scheduler: Scheduler, stack: AsyncExitStack, tasks: Tasks
) -> None:
    await stack.enter_async_context(service.running())
    graph = FederationGraph(scheduler, lambda: service.status)
    await stack.enter_async_context(tasks.task(graph.run, "federation graph"))


async def _by_roster(
    config: Config,
    scheduler: Scheduler,
    now: Callable[[], datetime],
    tasks: Tasks,
    stack: AsyncExitStack,
    *,
    member: MemberSettings,
) -> Federation:
    name, settings, folder = config.gateway.id, config.federation, membership_folder(config)
    links = MemberLinks(zenoh_links(config))
    service = FederationService(
        name, (), scheduler, links, settings=member, limits=settings.service()
    )
    keeper = Keeper(
        folder,
        Own(name, own_entry(config)),
        links,
        now,
        changed=service.members_are,
        wrong=service.close_link,
        is_ignored=service.guard.is_closed,
    )
    door = Door(folder, name, listening(config).host, settings.join_port, now)
    await keeper.begin()
    await _run(service, scheduler, stack, tasks)
    for name, run in (("federation members", keeper.run), ("federation door", door.run)):
        await stack.enter_async_context(tasks.task(run, name))
    return Federation(service, links, keeper, door)


def _member(config: Config, kept: Kept, overtaken: GoOnBehind) -> MemberSettings:
    settings = config.federation
    return MemberSettings(
        settings.peer_may_read(),
        settings.may_read(),
        outgoing=settings.outgoing(),
        replica_quads=settings.replica_quads,
        limits=Limits(config.limits.query_solutions, config.limits.query_s),
        drop_s=settings.drop_s,
        history=None if kept is None else kept.history,
        logged=int if kept is None else lambda: kept.log.appended,
        overtaken=overtaken,
    )
