"""`Reception`: messages in, from the inbox to an observation in journal and store."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path

from gateway.app.federation.later_epoch import LaterEpoch
from gateway.app.storage import Storage
from gateway.app.tasks import Tasks
from gateway.config.settings import Config
from gateway.engine import Limits
from gateway.ingest.compound.events_kept import (
    EventsKept,
    EventSources,
    begin_behind,
    keeping_events,
)
from gateway.ingest.current_state import CurrentState
from gateway.ingest.inbox import Inbox
from gateway.ingest.ingest import Ingest
from gateway.ingest.kept_messages import KeptMessages
from gateway.ingest.mappings import MappingTable
from gateway.ingest.measures import absence_measures, ingest_measures, quarantine_measures
from gateway.ingest.observation_filter import ObservationFilter
from gateway.ingest.plausibility import Plausibility
from gateway.ingest.quarantine import Quarantine
from gateway.ingest.raw_messages import RawMessages
from gateway.ingest.sensor_classes import SensorClasses
from gateway.ingest.silence import Absences, AbsenceTemplates
from gateway.ingest.sosa import ObservationTemplates
from gateway.ingest.sparklines import Sparklines
from gateway.ingest.windows.observation_windows import ObservationWindows
from gateway.runtime.clocks import Clocks
from gateway.runtime.loop_calls import LoopCalls
from gateway.runtime.measures import Measure
from gateway.scheduler.scheduler import Scheduler

log = logging.getLogger(__name__)


def events_path(config: Config) -> Path:
    """The folder of what requests stated."""
    return config.gateway.data_dir / "events"


class Reception:
    """Ingest and what it works with; the store is at the journal's end when this is made."""

    def __init__(self, config: Config, clocks: Clocks, storage: Storage) -> None:
        profiles, identity = storage.profiles, storage.identity
        self._storage = storage
        self.inbox = Inbox(config.limits.inbox)
        self.mappings, self.plausibility = MappingTable(), Plausibility()
        self.current_state = CurrentState(
            ObservationTemplates(profiles, identity), identity, config.store.latest
        )
        self.absences = Absences(AbsenceTemplates(profiles, identity), clocks.steady)
        self.quarantine = Quarantine(config.gateway.data_dir, config.limits.of_quarantine())
        self.raw = RawMessages(config.limits.of_raw_messages())
        future = timedelta(seconds=config.limits.future_s)
        self.ingest = Ingest(
            self.inbox,
            storage.scheduler,
            storage.journal,
            mappings=self.mappings,
            current_state=self.current_state,
            absences=self.absences,
            observation_filter=ObservationFilter(
                self.plausibility, self.current_state, self.mappings.memory, future, clocks.is_set
            ),
            kept=KeptMessages(self.quarantine, self.raw),
        )
        begin_behind(storage.journal, events_path(config))
        self.sparklines = Sparklines()
        self.ingest.recover(profiles.query_text, clocks.now, self.sparklines)
        self.ingest.on_records(accepted=self.sparklines.take)
        self._follow_journal()
        self.windows = ObservationWindows(
            storage.scheduler,
            storage.journal,
            self.ingest,
            state=self.current_state,
            mappings=self.mappings,
            most=config.windows.elements,
        )

    def _follow_journal(self) -> None:
        """Have requests that are no messages stand behind the last message that was applied."""
        journal = self._storage.journal
        places = self.scheduler.engine.events.places
        places.follow(journal.origin, journal.epoch, lambda: journal.space.applied)

    @contextmanager
    def keeping_events(self, config: Config) -> Iterator[EventsKept | None]:
        """Keep what requests state while the scheduler runs, where that is set.

        Raises StorageError.
        """
        if not config.keeps_events:
            yield None
            return
        storage, limits = self._storage, config.limits
        sources = EventSources(
            self.scheduler,
            storage.journal,
            storage.identity,
            lambda: self.current_state.templates,
            Limits(limits.query_solutions, limits.query_s),
        )
        with keeping_events(sources, events_path(config), config.events.limits()) as kept:
            yield kept

    def later_epoch(self, kept: EventsKept | None) -> LaterEpoch:
        """What has it go on behind positions that others know."""
        storage = self._storage
        return LaterEpoch(self.ingest, storage.scheduler, storage.journal, storage.identity, kept)

    @property
    def scheduler(self) -> Scheduler:
        """What writes its observations."""
        return self._storage.scheduler

    async def learn(self) -> None:
        """Have mappings and capabilities told, those that there are first of all."""
        await self._storage.learn("MAPPINGS", self.mappings.learn)
        await self._storage.learn("CAPABILITIES", self.plausibility.learn)

    @asynccontextmanager
    async def running(self, loop_calls: LoopCalls, tasks: Tasks) -> AsyncIterator[None]:
        """The ingest thread; at the end it settles what the inbox still has."""
        replayed = self.current_state.streams()
        classes = SensorClasses(self.mappings, self.scheduler, loop_calls, replayed)

        def work() -> None:
            try:
                self.ingest.run()
            except Exception as error:  # told to whoever waits for the gateway
                log.exception("ingest_crashed")
                loop_calls.call(tasks.fail, error)

        thread = threading.Thread(target=work, name="ingest", daemon=True)
        thread.start()
        try:
            async with tasks.task(classes.run, "sensor classes"):
                yield
        finally:
            self.windows.close()
            self.inbox.close()
            self.ingest.stop()
            await asyncio.to_thread(thread.join)

    def measures(self) -> tuple[Measure, ...]:
        """What its parts count."""
        return (
            *ingest_measures(self.ingest.statistics, self.current_state, self.inbox, self.raw),
            *absence_measures(self.absences),
            *quarantine_measures(self.quarantine),
            *self.windows.measures(),
        )
