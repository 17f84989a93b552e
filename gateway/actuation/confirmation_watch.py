"""`ConfirmationWatch`: the readings among all that ingest accepts which may confirm a command.

Place on the way of the data: called by ingest for every message, so it lets go at once of what
concerns no actuator. A reading counts when the store has it. A device that repeats its cached state
makes no observation of it (adapters.values.repetition): such a heartbeat says that the last one
still holds, so the last one of each stream that matters is known here.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from pyoxigraph import Literal, NamedNode

from adapters.values.memory import Recent
from adapters.values.message import Message
from adapters.values.notice import Heartbeat, Notice
from adapters.values.observation import StreamKey
from gateway.actuation.actuators import Actuators
from gateway.actuation.orders import Confirmation
from gateway.actuation.values import Reading
from gateway.ingest.sosa import Identity
from gateway.journal import Record

_STREAMS = 10_000

OnConfirmation = Callable[[Confirmation], None]
FindLast = Callable[[StreamKey], Confirmation | None]


class ConfirmationWatch:
    """Tells `on_confirmation` of each such reading, in whatever thread it was found.

    `find_last` knows the last one of a stream before the start.
    """

    def __init__(
        self,
        actuators: Actuators,
        identity: Identity,
        on_confirmation: OnConfirmation,
        find_last: FindLast,
    ) -> None:
        self._actuators = actuators
        self._identity = identity
        self._on_confirmation = on_confirmation
        self._find_last = find_last
        self._last = Recent[StreamKey, Confirmation](_STREAMS)

    def accepted(self, records: Sequence[Record]) -> None:
        """Observations have their identity; in the thread of ingest, in order."""
        subjects = self._actuators.subjects
        for record in records if subjects else ():
            if self._matters(record):
                self._last.put(record.observation.stream, self._confirmation(record))

    def stored(self, records: Sequence[Record]) -> None:
        """The store has them; in the thread of the scheduler."""
        subjects = self._actuators.subjects
        for record in records if subjects else ():
            if self._matters(record):
                self._on_confirmation(self._confirmation(record))

    def noticed(self, message: Message, notices: Sequence[Notice]) -> None:
        """Heartbeats; in the thread of ingest, before the observations of the same message."""
        subjects = self._actuators.subjects
        for notice in notices if subjects else ():
            if isinstance(notice, Heartbeat) and notice.stream[1:] in subjects:
                self._repeated(notice.stream, message)

    def _repeated(self, stream: StreamKey, message: Message) -> None:
        """What was last seen still holds."""
        last = self._last.get(stream)
        if last is None and (last := self._find_last(stream)) is not None:
            self._last.put(stream, last)
        if last is not None and not message.retained:
            self._on_confirmation(replace(last, received_at=message.received_at))

    def _matters(self, record: Record) -> bool:
        seen = record.observation
        how = seen.circumstances
        return seen.stream[1:] in self._actuators.subjects and not (how.seed or how.historical)

    def _confirmation(self, record: Record) -> Confirmation:
        observation = record.observation
        value = Literal(observation.lexical, datatype=NamedNode(observation.datatype))
        return Confirmation(
            self._identity.observation(record.position),
            observation.stream,
            Reading(value, observation.unit),
            record.ingested_at,
        )
