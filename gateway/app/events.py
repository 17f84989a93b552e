"""Compound events, put together: where those of requests are kept, and who is told old ones."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.app.reception import Reception
from gateway.app.storage import Storage
from gateway.config.settings import Config
from gateway.engine import Limits
from gateway.engine.compound.event_keeping import EventKeeping, recorded_place
from gateway.ingest.compound.event_history import EventHistory
from gateway.ingest.compound.event_opening import EventOpening
from gateway.ingest.compound.message_events import MessageEvents
from gateway.journal.event_log import EventLog, newest_epoch
from gateway.journal.event_position import EventPosition
from gateway.runtime.measures import Measure


@dataclass(frozen=True, slots=True)
class EventsKept:
    """The log and what replays it; None where nothing is kept."""

    log: EventLog
    opening: EventOpening

    def measures(self) -> Iterator[Measure]:
        """What they count."""
        what = "bytes of events that can be told again"
        yield Measure("event_log_bytes", what, lambda: self.log.size, is_counter=False)
        yield from self.opening.measures()


def events_path(config: Config) -> Path:
    """The folder of the log."""
    return config.gateway.data_dir / "events"


def begin_behind_log(config: Config, storage: Storage) -> None:
    """Have a later epoch than a log knows, where journal and store were lost."""
    storage.journal.begin_after(newest_epoch(events_path(config)))


@contextmanager
def keeping_events(
    config: Config, storage: Storage, reception: Reception
) -> Iterator[EventsKept | None]:
    """Keep the events of requests, where that is set, while the scheduler runs.

    Raises StorageError.
    """
    if not config.events.log:
        yield None
        return
    engine, identity, journal = storage.engine, storage.identity, storage.journal
    start = EventPosition(journal.epoch, 0)
    recorded = recorded_place(engine.store, identity.node)
    log = EventLog(events_path(config), start, recorded, config.events.limits())
    state = reception.current_state

    def history() -> EventHistory:
        messages = MessageEvents(identity, lambda: state.templates)
        return EventHistory(journal, log, identity, messages)

    before = storage.scheduler.opening
    assert before is not None  # noqa: S101  # that of windows
    limits = Limits(config.limits.query_solutions, config.limits.query_s)
    opening = EventOpening(storage.scheduler, history, before, limits)
    with closing(log), closing(opening):
        engine.events.keeping = EventKeeping(log, identity.node, engine.store)
        storage.scheduler.opening = opening.subscribe
        yield EventsKept(log, opening)
