"""`EventHistory`: the compound events of a gateway behind a position, from journal and log.

    journal -> messages -> what their observations state  \\
    log     -> what other requests stated                  -> events in the order of positions

Place: in threads of its own, beside scheduler and ingest. What a message states is made again from
its records by the templates of now; both sources may lose their oldest part meanwhile.
"""

from collections.abc import Iterator
from heapq import merge
from itertools import groupby, takewhile

from pyoxigraph import NamedNode

from gateway.engine.compound.event import CompoundEvent, message_events, term_of
from gateway.errors import StorageError
from gateway.ingest.compound.message_events import MessageEvents
from gateway.ingest.sosa import Identity
from gateway.journal import Journal, Position, Record
from gateway.journal.event_log import EventLog
from gateway.journal.event_position import EventPosition
from gateway.journal.reading import records_after, segments

_LOOKS = 5
"""How often the folder is listed anew while segments are sealed or removed."""


class EventHistory:
    """`messages` makes events for one reader at a time: each reader has a history of its own."""

    def __init__(
        self, journal: Journal, log: EventLog, identity: Identity, messages: MessageEvents
    ) -> None:
        self._journal = journal
        self._log = log
        self._identity = identity
        self._messages = messages

    def between(self, after: EventPosition, until: EventPosition) -> Iterator[CompoundEvent]:
        """The events behind a position up to another, which both sources have. Raises StorageError.

        Takes time linear in the journal's segments from there on.
        """
        both = (self._of_messages(after, until), self._of_requests(after, until))
        return merge(*both, key=lambda event: event.position)

    def first_missing(self, after: EventPosition) -> EventPosition | None:
        """Where what is known behind a position begins, where that is not at once; else None."""
        found = [each for each in (self._first_record(after), self._log.oldest) if each is not None]
        missing = [each for each in found if each > after]
        return max(missing, default=None)

    def _first_record(self, after: EventPosition) -> EventPosition | None:
        """Where the journal begins, where observations behind the position have been removed."""
        manifest = self._journal.manifest
        gaps = [each.name.last for each in manifest.sealed() if each.name.is_gap]
        lost = [EventPosition.of(each) for each in gaps if each > after.message]
        found = segments(self._journal.folder)
        if manifest.has_removed and found:
            start = found[0][0]
            is_next = start <= Position(after.epoch, after.sequence + 1)
            lost += [] if is_next else [EventPosition(start.epoch, start.sequence - 1)]
        return max(lost, default=None)

    def _of_messages(self, after: EventPosition, until: EventPosition) -> Iterator[CompoundEvent]:
        records = takewhile(
            lambda record: record.position <= until.message, self._records(after.message)
        )
        for _, of_one in groupby(records, lambda each: (each.position.epoch, each.message)):
            message = self._messages.of(list(of_one))
            if message.position > after:
                for graph, triples in message_events(message.quads):
                    yield CompoundEvent(
                        graph,
                        term_of(graph, message.iri),
                        triples,
                        gateway=self._identity.gateway,
                        position=message.position,
                        time=message.time,
                    )

    def _records(self, position: Position) -> Iterator[Record]:
        last: Position = position
        for _ in range(_LOOKS):
            try:
                for record in records_after(segments(self._journal.folder), last):
                    last = record.position
                    yield record
            except FileNotFoundError:  # sealed or removed since we looked
                continue
            except OSError as error:
                reason = f"the journal cannot be read: {error}"
                raise StorageError(reason, "mend the disk") from error
            return
        raise StorageError("the journal's segments come and go too fast", "subscribe again")

    def _of_requests(self, after: EventPosition, until: EventPosition) -> Iterator[CompoundEvent]:
        for logged in self._log.after(after, until):
            iri = f"{self._identity.base_iri}{self._identity.gateway}/event/{logged.position}"
            yield CompoundEvent(
                logged.graph,
                term_of(logged.graph, NamedNode(iri)),
                logged.triples,
                gateway=self._identity.gateway,
                position=logged.position,
                time=logged.time,
            )
