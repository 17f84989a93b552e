"""`Replay`: one subscription told the events that were before it, in a thread of its own.

    history -> events -> the subscription's query -> rows -> its sink, as fast as its client reads

Place: behind `EventOpening`. The query is asked as the engine would: of each event alone.
"""

import logging
from collections.abc import Callable
from threading import Event

from gateway.engine import Notification, SubscribeRequest
from gateway.engine.compound.event import CompoundEvent
from gateway.engine.compound.event_query import EventQuery
from gateway.engine.compound.event_view import told_of
from gateway.engine.limits import Limits, limited
from gateway.engine.spu import EVENT, Subject
from gateway.errors import GatewayError, SubscriptionFailedError
from gateway.ingest.compound.event_history import EventHistory
from gateway.ingest.compound.replayed_sink import ReplayedSink
from gateway.journal.event_position import EventPosition
from gateway.rdf.solutions import ResultsDelta

log = logging.getLogger(__name__)

_PAUSE_S = 0.02


class Replay:
    """Replays to a sink; `looked_at` counts events. Nobody waits for it: `ended` is told errors."""

    def __init__(
        self,
        history: EventHistory,
        request: SubscribeRequest,
        sink: ReplayedSink,
        ended: Callable[[GatewayError], None],
        *,
        limits: Limits,
        closing: Event,
    ) -> None:
        self.looked_at = 0
        self._history = history
        self._sink = sink
        self._ended = ended
        self._limits = limits
        self._closing = closing
        self._alias = request.alias
        self._takes = request.takes
        self._query = EventQuery(Subject(request.text, readable=request.rights.read, mode=EVENT))

    def run(self, after: EventPosition, until: EventPosition) -> None:
        """Tell what is behind `after` up to `until`, and what came meanwhile."""
        try:
            reached: EventPosition | None = until
            while reached is not None:
                for event in self._history.between(after, reached):
                    if not self._is_awaited():
                        return
                    self._tell(event)
                after, reached = reached, self._sink.caught_up()
        except GatewayError as error:
            self._ended(error)
        except Exception as error:
            log.exception("event_replay_failed")
            reason = f"the events that were before cannot be told: {error!r:.200}"
            self._ended(SubscriptionFailedError(reason, "subscribe again without `after`"))

    def _is_awaited(self) -> bool:
        """Whether somebody still reads; waits while that one has enough to read."""
        while not self._closing.is_set():
            takes = self._takes()
            if takes is not False:
                return takes is not None
            self._closing.wait(_PAUSE_S)
        return False

    def _tell(self, event: CompoundEvent) -> None:
        self.looked_at += 1
        query = self._query
        if not query.may_read(event):
            return
        with limited(self._limits):
            rows = tuple(query.rows(event))
        self._limits.require(len(rows))
        if rows:
            results = ResultsDelta(query.spu.variables, rows)
            known_as = (self._sink.spuid, 0, self._alias)
            events = (told_of(event, len(rows)),)
            form = query.spu.form
            told = Notification(*known_as, event.time, results, form, events=events)
            self._sink.replay(told)
