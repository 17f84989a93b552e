"""`Orders`: what is wanted of each actuator; the state machine of actuations, without I/O.

    requested ─► sent ─► confirmed | failed | superseded
        └──────► failed | superseded

Invariants: of an actuator at most one actuation is sent and not ended; each ends once; what has
been sent is never sent again. Times are told: `now` by the wall clock, `time_s` by one that does
not jump, which deadlines are measured by.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal as Literals

from pyoxigraph import Literal

from adapters.values.observation import StreamKey
from gateway.actuation.actuator import Actuator, Message
from gateway.actuation.values import Reading

Find = Callable[[str], Actuator | None]
Subject = tuple[str, str]
"""Property and feature."""


@dataclass(frozen=True, slots=True)
class ActuationRequest:
    """A requested actuation: IRIs of it and of its actuator, and the value, if it is one.

    `is_old`: it was there before the gateway started.
    """

    iri: str
    actuator: str
    value: Literal | None
    requested_at: datetime | None = None
    is_old: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is not fulfilled, and why."""

    request: ActuationRequest
    reason: str


@dataclass(frozen=True, slots=True)
class Order:
    """A request to be fulfilled; `older` are the actuations whose place it takes."""

    request: ActuationRequest
    actuator: Actuator
    value: Literal
    message: Message
    older: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pending:
    """An actuation that was sent and waits for its confirmation until `deadline_s`.

    `message` is None where an earlier life sent it to an actuator that takes it no more.
    """

    iri: str
    actuator: Actuator
    value: Literal
    sent_at: datetime
    deadline_s: float
    message: Message | None


@dataclass(frozen=True, slots=True)
class End:
    """How an actuation that was sent ended: `status` as the store calls it, when, by what, why."""

    status: Literals["Confirmed", "Failed", "Superseded"]
    at: datetime
    observation: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """An observation that may confirm something: its IRI, its stream, and when it arrived."""

    observation: str
    stream: StreamKey
    reading: Reading
    received_at: datetime


class Orders:
    """What was sent and is not ended; `time_limit_s` is that of actuators without their own.

    `subjects` are the properties and features whose readings may confirm something; it is replaced
    as a whole, so that other threads may look at it.
    """

    def __init__(self, time_limit_s: float) -> None:
        self.subjects: frozenset[Subject] = frozenset()
        self._time_limit_s = time_limit_s
        self._pending: dict[str, Pending] = {}

    @property
    def pending(self) -> Sequence[Pending]:
        """What waits for a confirmation."""
        return tuple(self._pending.values())

    def time_limit_s(self, actuator: Actuator) -> float:
        """How long a command may take."""
        return actuator.time_limit_s or self._time_limit_s

    def decide(
        self, requests: Sequence[ActuationRequest], find: Find, now: datetime
    ) -> tuple[list[Refusal], list[Order]]:
        """What to do about requests, in their order: of those for one actuator the last counts.

        Changes nothing: `sent` does, when it is written down that an order is about to be sent.
        """
        refusals: list[Refusal] = []
        orders: dict[str, Order] = {}
        for request in requests:
            try:
                order = self._order(request, find(request.actuator), now)
            except ValueError as error:
                refusals.append(Refusal(request, str(error)))
                continue
            before = orders.pop(request.actuator, None)
            older = (*before.older, before.request.iri) if before else self._older(request.actuator)
            orders[request.actuator] = Order(request, *order, older)
        return refusals, list(orders.values())

    def _older(self, actuator: str) -> tuple[str, ...]:
        before = self._pending.get(actuator)
        return () if before is None else (before.iri,)

    def _order(
        self, request: ActuationRequest, actuator: Actuator | None, now: datetime
    ) -> tuple[Actuator, Literal, Message]:
        """Raises ValueError with why the request cannot be fulfilled."""
        if actuator is None:
            raise ValueError(f"there is no actuator <{request.actuator}> that can be told anything")
        if request.value is None:
            raise ValueError("it has several values, or one that is no literal")
        if request.is_old:
            raise ValueError("the gateway was stopped before it was sent")
        limit = timedelta(seconds=self.time_limit_s(actuator))
        if request.requested_at is not None and now - request.requested_at > limit:
            raise ValueError("it was asked for longer ago than its time limit")
        return actuator, request.value, actuator.message(request.value, now)

    def sent(self, order: Order, now: datetime, time_s: float) -> Pending:
        """The order is about to be published; from now on readings confirm it."""
        pending = Pending(
            order.request.iri,
            order.actuator,
            order.value,
            now,
            time_s + self.time_limit_s(order.actuator),
            order.message,
        )
        self._put(pending)
        return pending

    def recall(
        self,
        request: ActuationRequest,
        actuator: Actuator,
        sent_at: datetime,
        now: datetime,
        time_s: float,
    ) -> str | None:
        """Take up what an earlier life of the gateway sent; its time has gone on.

        Gives the IRI of what it supersedes: of two, the one that was sent later stays.
        """
        if request.value is None:
            return request.iri
        limit_s = self.time_limit_s(actuator)
        left_s = min(limit_s, max(0.0, limit_s - (now - sent_at).total_seconds()))
        message = _message(actuator, request.value, sent_at)
        mine = Pending(request.iri, actuator, request.value, sent_at, time_s + left_s, message)
        other = self._pending.get(actuator.iri)
        if other is not None and other.sent_at > sent_at:
            return mine.iri
        self._put(mine)
        return None if other is None else other.iri

    def given_up(self, actuator: str) -> list[Pending]:
        """What was pending for an actuator has ended otherwise."""
        return self._take(self._pending[actuator] for actuator in {actuator} & self._pending.keys())

    def observed(self, confirmation: Confirmation) -> list[Pending]:
        """What a reading confirms; it is pending no more."""
        return self._take(each for each in self._pending.values() if _confirms(confirmation, each))

    def refused(self, actuation: str) -> list[Pending]:
        """What its device did not take, where it is pending; it is no more."""
        return self._take(each for each in self._pending.values() if each.iri == actuation)

    def due(self, time_s: float) -> list[Pending]:
        """What has had its time; it is pending no more."""
        return self._take(each for each in self._pending.values() if each.deadline_s <= time_s)

    def wait_s(self, time_s: float) -> float | None:
        """How long nothing can be due; None: for ever."""
        deadlines: Iterator[float] = (each.deadline_s for each in self._pending.values())
        first = min(deadlines, default=None)
        return None if first is None else max(0.0, first - time_s)

    def _put(self, pending: Pending) -> None:
        self._pending[pending.actuator.iri] = pending
        self._look()

    def _take(self, some: Iterable[Pending]) -> list[Pending]:
        taken = list(some)
        for each in taken:
            del self._pending[each.actuator.iri]
        if taken:
            self._look()
        return taken

    def _look(self) -> None:
        actuators = [each.actuator for each in self._pending.values()]
        self.subjects = frozenset((each.observed_property, each.feature) for each in actuators)


def _message(actuator: Actuator, value: Literal, sent_at: datetime) -> Message | None:
    try:
        return actuator.message(value, sent_at)
    except ValueError:
        return None


def _confirms(confirmation: Confirmation, pending: Pending) -> bool:
    actuator = pending.actuator
    sensor, observed_property, feature = confirmation.stream
    return (
        (observed_property, feature) == (actuator.observed_property, actuator.feature)
        and actuator.sensor in {"", sensor}
        and confirmation.received_at >= pending.sent_at
        and actuator.is_confirmed(pending.value, confirmation.reading)
    )
