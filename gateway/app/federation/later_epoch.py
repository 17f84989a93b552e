"""`LaterEpoch`: a gateway goes on in a later epoch while it runs, as others know later positions.

    a position that a member has seen -> ingest: journal in a later epoch -> scheduler: positions

Place: between federation, ingest and scheduler. What was decoded before has positions of the epoch
before, and is ahead of it in the scheduler's queue, so positions only grow.
"""

import logging
from dataclasses import dataclass
from functools import partial

from gateway.errors import StorageError
from gateway.ingest.compound.events_kept import EventsKept
from gateway.ingest.ingest import Ingest
from gateway.ingest.sosa import Identity
from gateway.journal import Journal
from gateway.journal.event_position import EventPosition
from gateway.scheduler.scheduler import Scheduler

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LaterEpoch:
    """All that gives positions."""

    ingest: Ingest
    scheduler: Scheduler
    journal: Journal
    identity: Identity
    kept: EventsKept | None

    def go_on_behind(self, seen: EventPosition) -> None:
        """Give positions behind this one, soon. For any thread."""
        self.ingest.run_in_thread(partial(self._begin, seen.epoch))

    def _begin(self, epoch: int) -> None:
        """In the ingest thread. A disk that is full is tried again when a member asks again."""
        try:
            self.journal.begin_after(epoch)
        except StorageError as error:
            log.error("epoch_not_begun", extra={"reason": str(error)})
            return
        self.scheduler.post(self._follow)

    def _follow(self) -> None:
        """In the scheduler's thread."""
        engine, epoch = self.scheduler.engine, self.journal.epoch
        places = engine.events.places
        if places.now().epoch >= epoch:
            return
        log.warning("epoch_was_overtaken", extra={"before": places.now().epoch, "epoch": epoch})
        places.follow(self.journal.origin, epoch, lambda: self.journal.space.applied)
        engine.store.expect_new(self.identity.fresh_namespace(epoch))
        try:
            if self.kept is not None:
                self.kept.log.begin_at(places.last)
        except StorageError as error:
            log.error("event_log_not_begun", extra={"reason": str(error)})
