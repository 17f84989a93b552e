"""A trial: what a message would be, payload to observations to triples, and nothing is changed.

A copy of the way of the data, from the registry to the UPDATE of the profile, that ends before
journal and store. Who tries gives a registry with a Memory of its own, so that no counter, alias or
last value of the running gateway is touched.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pyoxigraph import Quad

from adapters.registry import Registry
from adapters.values.fault import Fault
from adapters.values.message import Message
from adapters.values.notice import Notice
from adapters.values.observation import Observation
from gateway.ingest.sosa import ObservationTemplates
from gateway.journal import Position, Record
from gateway.store.quad_store import QuadStore
from gateway.store.update import BoundUpdate, evaluate

EPOCH = 0
"""The epoch of identities in a trial: no life of a gateway has it."""

Believe = Callable[[Observation, datetime], Fault | None]
"""Why a result cannot be, at its time; see gateway.ingest.plausibility."""


@dataclass(frozen=True, slots=True)
class Writing:
    """How observations become triples: the profile's templates, and `future` of [limits]."""

    templates: ObservationTemplates
    future: timedelta = timedelta(days=1)

    def records(
        self, observations: Sequence[Observation], message: Message, first: int
    ) -> list[Record]:
        """With identities that nothing real has, `first` the first sequence."""
        return [
            Record(
                Position(EPOCH, first + number),
                first,
                seen,
                message.received_at,
                clock_suspect=self._is_suspect(seen, message.received_at),
            )
            for number, seen in enumerate(observations)
        ]

    def updates(self, records: Iterable[Record]) -> list[BoundUpdate]:
        """What the profile would do for each."""
        return [each for record in records for each in self.templates.entering(record)]

    def _is_suspect(self, seen: Observation, received_at: datetime) -> bool:
        time = seen.phenomenon_time
        is_ahead = time is not None and time > received_at + self.future
        return is_ahead or (time is not None and seen.circumstances.clock_suspect)


@dataclass(frozen=True, slots=True)
class Trial:
    """What one message would be; `matched` is false where no mapping knows the topic.

    `records` are the observations with identities of the trial, `triples` what the profile's
    templates write for them.
    """

    records: tuple[Record, ...] = ()
    triples: tuple[Quad, ...] = ()
    faults: tuple[Fault, ...] = ()
    notices: tuple[Notice, ...] = ()
    matched: bool = False

    @property
    def observations(self) -> tuple[Observation, ...]:
        """What would be stored."""
        return tuple(record.observation for record in self.records)


def try_message(
    registry: Registry,
    message: Message,
    writing: Writing,
    *,
    store: QuadStore | None = None,
    believe: Believe | None = None,
    first: int = 1,
) -> Trial:
    """What `message` would be by the mappings of `registry`, whose Memory learns from it.

    Templates that look into the store see `store`, which stays as it is; it is to be given in
    the scheduler's thread only. Their triples are told whether or not they are there already.
    Linear in the message. Raises what a user's own template raises: a GatewayError.
    """
    decoded = registry.decode(message)
    kept, faults = [], list(decoded.faults)
    for seen in decoded.observations:
        fault = believe(seen, seen.phenomenon_time or message.received_at) if believe else None
        if fault is None:
            kept.append(seen)
        else:
            faults.append(fault)
    records = writing.records(kept, message, first)
    triples = written(writing.updates(records), store)
    return Trial(tuple(records), triples, tuple(faults), decoded.notices, decoded.matched)


def written(updates: Sequence[BoundUpdate], store: QuadStore | None = None) -> tuple[Quad, ...]:
    """The quads that the updates write, whether or not `store` has them."""
    if not updates:
        return ()
    quads = dict.fromkeys(evaluate(QuadStore.open(None), updates).added)
    if store is not None:
        quads |= dict.fromkeys(evaluate(store, updates).added)
    return tuple(quads)
