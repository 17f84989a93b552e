"""`EventsKept`: where the events of requests are kept, and who tells old ones, put together.

Place: in `gateway.app`, between engine, journal and scheduler, before the scheduler runs.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.engine import Limits
from gateway.engine.compound.event_keeping import EventKeeping, recorded_place
from gateway.ingest.compound.event_history import EventHistory
from gateway.ingest.compound.event_opening import EventOpening
from gateway.ingest.compound.message_events import MessageEvents
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.journal import Journal
from gateway.journal.event_log import EventLog, EventLogLimits, newest_epoch
from gateway.journal.event_position import EventPosition
from gateway.runtime.measures import Measure
from gateway.scheduler.scheduler import Scheduler


@dataclass(frozen=True, slots=True)
class EventsKept:
    """The log and what replays it; a `history` is for one reader."""

    log: EventLog
    opening: EventOpening
    history: Callable[[], EventHistory]

    def measures(self) -> tuple[Measure, ...]:
        """What they count."""
        what = "bytes of events that can be told again"
        size = Measure("event_log_bytes", what, lambda: self.log.size, is_counter=False)
        return (size, *self.opening.measures())


@dataclass(frozen=True, slots=True)
class EventSources:
    """What events come from: the journal, the templates of now; `limits` are those of a query."""

    scheduler: Scheduler
    journal: Journal
    identity: Identity
    templates: Callable[[], ObservationTemplates]
    limits: Limits


def begin_behind(journal: Journal, folder: Path) -> None:
    """Have a later epoch than a log knows, where store and journal were lost."""
    journal.begin_after(newest_epoch(folder))


@contextmanager
def keeping_events(
    sources: EventSources, folder: Path, limits: EventLogLimits
) -> Iterator[EventsKept]:
    """Keep the events of requests in a folder while the scheduler runs. Raises StorageError."""
    scheduler, journal, identity = sources.scheduler, sources.journal, sources.identity
    engine = scheduler.engine
    start = EventPosition(journal.epoch, 0)
    log = EventLog(folder, start, recorded_place(engine.store, identity.node), limits)

    def history() -> EventHistory:
        messages = MessageEvents(identity, sources.templates)
        return EventHistory(journal, log, identity, messages)

    opening = EventOpening(scheduler, history, sources.limits)
    with closing(log), closing(opening):
        engine.events.keeping = EventKeeping(log, identity.node, engine.store)
        scheduler.opening = opening.subscribe
        yield EventsKept(log, opening, history)
