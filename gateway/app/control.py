"""`Control`: commands to devices, by actuations and by rules, and the profiles that say how."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gateway.actuation.actuating import Actuating, ActuationContext
from gateway.actuation.consumer import Asking, Sender
from gateway.actuation.device_requests import DeviceRequests
from gateway.actuation.measures import actuation_measures, rule_measures
from gateway.actuation.rules import Republisher
from gateway.admin.measures import profile_measures
from gateway.admin.profile_reload import ProfileReload
from gateway.app.federation.federating import Federation
from gateway.app.reception import Reception
from gateway.app.storage import Storage
from gateway.app.tasks import Tasks
from gateway.config.settings import Config
from gateway.gates.subscriptions.federated import Federated
from gateway.runtime.clocks import Clocks
from gateway.runtime.loop_calls import LoopCalls
from gateway.runtime.measures import Measure
from gateway.scheduler.subscriptions import Subscriptions


@dataclass(frozen=True, slots=True)
class Control:
    """Actuations, rules, and the reload of the profiles that both are written in."""

    actuating: Actuating
    republisher: Republisher
    reload: ProfileReload

    @asynccontextmanager
    async def running(
        self, reception: Reception, storage: Storage, tasks: Tasks
    ) -> AsyncIterator[None]:
        """Commands can be asked for, and readings confirm them; rules are in force."""
        actuating, republisher = self.actuating, self.republisher
        async with (
            actuating.learning(reception.ingest),
            tasks.task(actuating.consumer.run, "actuation"),
            tasks.task(republisher.run, "republish"),
        ):
            await storage.learn("RULES", republisher.learn)
            await republisher.settled()
            async with tasks.task(self.reload.run, "profiles"):
                yield

    def measures(self) -> tuple[Measure, ...]:
        """What its parts count."""
        return (
            *rule_measures(self.republisher),
            *actuation_measures(self.actuating),
            *profile_measures(self.reload),
        )


def control_of(
    config: Config,
    clocks: Clocks,
    storage: Storage,
    reception: Reception,
    *,
    publisher: Sender,
    senders: Mapping[str, Asking],
    loop_calls: LoopCalls,
    federation: Federation | None,
) -> Control:
    """Commands go out by `publisher`, of whatever broker; by `senders` to actuators of a format.

    Rules may be about what gateways of the `federation` have.
    """
    context = ActuationContext(
        storage.scheduler,
        storage.profiles,
        storage.identity,
        storage.journal,
        loop_calls,
        clocks,
    )
    actuating = Actuating(context, publisher, config.actuation.limits(), senders)
    reception.ingest.on_notices(DeviceRequests(publisher).hear)
    service = None if federation is None else federation.service
    subscriptions = Federated(storage.scheduler, service)
    republisher = _republisher(storage, subscriptions, actuating, loop_calls)
    if service is not None:  # rules may name a gateway that is no member yet
        service.joined = republisher.again
    reload = ProfileReload(
        storage.files,
        storage.profiles,
        storage.identity,
        scheduler=storage.scheduler,
        ingest=reception.ingest,
        republisher=republisher,
        actuating=actuating,
    )
    return Control(actuating, republisher, reload)


def _republisher(
    storage: Storage, subscriptions: Subscriptions, actuating: Actuating, loop_calls: LoopCalls
) -> Republisher:
    """What it sends is in the journal, commands to actuators with their own line."""
    journal, identity = storage.journal, storage.identity

    def sent(rule: str, topic: str, payload: bytes) -> None:
        if actuating.topics.actuator(topic) is None:
            journal.note(identity.actuation(rule, topic, payload))

    queries = storage.profiles.queries
    through = actuating.publisher_of_rules()
    return Republisher(subscriptions, through, queries, loop_calls, sent)
