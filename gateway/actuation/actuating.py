"""`Actuating`: the parts of this package put together.

Place on the way of the data: made by `app` at the start, when messages can go out and before any
comes in.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from gateway.actuation.actuator import Actuator, Message
from gateway.actuation.actuators import Actuators
from gateway.actuation.command_topics import ActuatingPublisher, CommandTopics
from gateway.actuation.commands import Commands
from gateway.actuation.confirmation_watch import ConfirmationWatch
from gateway.actuation.consumer import Asking, Consumer, Notes, Sender
from gateway.actuation.history import History
from gateway.actuation.last_reading import LastReadings
from gateway.actuation.ledger import Ledger
from gateway.actuation.limits import ActuationLimits
from gateway.actuation.orders import Confirmation, End, Order, Orders, Pending
from gateway.actuation.recovery import recover
from gateway.actuation.requests import requests, time_of
from gateway.actuation.templates import ActuationTemplates
from gateway.engine import Notification, SubscribeRequest
from gateway.ingest.ingest import Ingest
from gateway.ingest.sosa import Identity, payload_literal
from gateway.journal import Actuation, Journal, Outcome
from gateway.profiles import Profiles
from gateway.runtime.clocks import Clocks
from gateway.runtime.loop_calls import LoopCalls
from gateway.scheduler.scheduler import Scheduler, Sink

log = logging.getLogger(__name__)

_EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ActuationContext:
    """What it stands on."""

    scheduler: Scheduler
    profiles: Profiles
    identity: Identity
    journal: Journal
    loop_calls: LoopCalls
    clocks: Clocks


class Actuating:
    """Actuators, the consumer of actuations, and the ways to ask for one."""

    def __init__(
        self,
        around: ActuationContext,
        publisher: Sender,
        limits: ActuationLimits,
        senders: Mapping[str, Asking] = MappingProxyType({}),
    ) -> None:
        """`senders` are for actuators of these formats; `publisher` is for all others."""
        self._around = around
        self._publisher = publisher
        templates = ActuationTemplates(around.profiles)
        self._history = History(limits.keep)
        self.actuators = Actuators()
        self.consumer = Consumer(
            around.scheduler,
            publisher,
            templates,
            self.actuators,
            orders=Orders(limits.time_limit_s),
            history=self._history,
            notes=Notes(self._journal, self._journal_end),
            clocks=around.clocks,
        )
        self.consumer.senders = senders
        self.commands = Commands(around.scheduler, templates, self.consumer, around.identity)
        statistics = self.consumer.statistics
        self.topics = CommandTopics(limits.prefix, self.actuators, self.commands, statistics)
        query = around.scheduler.engine.query
        self.ledger = Ledger(around.profiles, query)
        self._readings = LastReadings(around.profiles, query)

    def publisher_of_rules(self) -> ActuatingPublisher:
        """What rules publish by."""
        around = self._around
        return ActuatingPublisher(
            self._publisher, self.topics, around.loop_calls, around.clocks.now
        )

    def renew(self, templates: ActuationTemplates) -> None:
        """The profiles have others now."""
        self.consumer.templates = self.commands.templates = templates

    @asynccontextmanager
    async def learning(self, ingest: Ingest) -> AsyncIterator[None]:
        """Take up what was left, then learn of requested actuations and of readings."""
        around = self._around
        await self._subscribe("ACTUATORS", self.actuators.learn)
        await asyncio.to_thread(self._recover)
        await self._subscribe("REQUESTED", self._requested)
        watch = ConfirmationWatch(self.actuators, around.identity, self._observe, self._readings.of)
        ingest.on_notices(watch.noticed)
        ingest.on_records(accepted=watch.accepted, stored=watch.stored)
        yield

    def _recover(self) -> None:
        """What is there may be confirmed by a reading that came when nobody listened."""
        around, consumer = self._around, self.consumer
        rows = self.ledger.rows()
        consumer.left_over = recover(
            rows,
            self.actuators,
            consumer.orders,
            self._history,
            templates=consumer.templates,
            clocks=around.clocks,
        )
        times = [(row["actuation"], time_of(row["requestedAt"]) or _EVER) for row in rows]
        self.topics.recall((str(getattr(iri, "value", "")), time) for iri, time in times)
        for pending in consumer.orders.pending:
            if (confirmation := self._readings.confirming(pending)) is not None:
                around.loop_calls.call(consumer.observe, confirmation)

    async def _subscribe(self, query: str, sink: Sink) -> None:
        around = self._around
        text = around.profiles.query_text(query)
        await around.scheduler.subscribe(SubscribeRequest(text, is_prompt=True), sink=sink)

    def _requested(self, notification: Notification) -> None:
        self._around.loop_calls.call(self.consumer.take, requests(notification))

    def _observe(self, confirmation: Confirmation) -> None:
        if confirmation.stream[1:] in self.consumer.orders.subjects:
            self._around.loop_calls.call(self.consumer.observe, confirmation)

    def _journal(self, order: Order, now: datetime) -> None:
        self._around.journal.note(_command(order.request.iri, order.actuator, order.message, now))

    def _journal_end(self, pending: Pending, end: End) -> None:
        if pending.message is None:
            log.warning("outcome_not_journalled", extra={"actuation": pending.iri})
            return
        command = _command(pending.iri, pending.actuator, pending.message, pending.sent_at)
        outcome = Outcome(command, end.status, end.at, end.observation, end.reason)
        self._around.journal.note(outcome)


def _command(iri: str, actuator: Actuator, message: Message, sent_at: datetime) -> Actuation:
    return Actuation(
        actuator.iri,
        message.topic,
        *payload_literal(message.payload),
        sent_at,
        actuation=iri,
        acts_on_property=actuator.observed_property,
        feature_of_interest=actuator.feature,
    )
