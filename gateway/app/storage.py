"""`Storage`: what a gateway keeps, and the one thread that writes it.

Before all else at the start: the profiles' mappings are in the store when this is open. At the end
the scheduler finishes what is queued, then store and journal are closed.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gateway.admin.profile_reload import ProfileFiles
from gateway.admin.reasoning import reasoning_measures
from gateway.config.journal import ShippingSettings
from gateway.config.settings import Config
from gateway.engine import Engine, Limits, SubscribeRequest
from gateway.engine.measures import engine_measures
from gateway.engine.performance import Performance
from gateway.ingest.sosa import Identity
from gateway.journal import Journal, Origin, Upkeep
from gateway.journal.measures import journal_measures
from gateway.journal.record import micros
from gateway.profiles import Listed, Profiles
from gateway.rdf.documents import Documents
from gateway.reasoning.reasoning import Reasoning
from gateway.runtime.clocks import SYSTEM_CLOCKS, Clocks
from gateway.runtime.measures import Measure
from gateway.runtime.process import one_core
from gateway.scheduler.measures import scheduler_measures
from gateway.scheduler.scheduler import Scheduler, Sink
from gateway.shipping import Shipper, open_zone, shown
from gateway.shipping.measures import shipping_measures
from gateway.sparql.bounds.form import set_bounds
from gateway.store.clock import microseconds
from gateway.store.fetch import HttpFetch
from gateway.store.remote import Remote

_REST_S = 60.0


@dataclass(frozen=True, slots=True)
class Storage:
    """Profiles as they were at the start, engine, journal and scheduler."""

    identity: Identity
    files: ProfileFiles
    profiles: Profiles
    journal: Journal
    upkeep: Upkeep
    shipper: Shipper | None
    scheduler: Scheduler
    _beside: ExitStack = field(default_factory=ExitStack)

    @property
    def engine(self) -> Engine:
        """The engine that the scheduler runs."""
        return self.scheduler.engine

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Reason and write; the journal has been replayed. Raises OntologyError."""
        if self.engine.reasoner is not None:
            with one_core():
                self.engine.start_reasoning()
        with self._beside:
            self.scheduler.__enter__()
            try:
                yield
            finally:
                # Its end is waited for without holding up the loop that serves it.
                await asyncio.to_thread(self.scheduler.__exit__, None, None, None)

    def keep_up(self) -> None:
        """Seal and ship from now on, until the scheduler has ended."""
        self._beside.enter_context(self.upkeep)
        if self.shipper is not None:
            self._beside.enter_context(self.shipper)

    async def flush_at_rest(self) -> None:
        """Look each minute whether the store is at rest; the body of a task."""
        while True:
            await asyncio.sleep(_REST_S)
            self.scheduler.post(self.engine.store.rest)

    async def learn(self, query: str, sink: Sink) -> None:
        """Subscribe to our own engine; an UPDATE is answered when the sink has been told."""
        request = SubscribeRequest(self.profiles.query_text(query), is_prompt=True)
        await self.scheduler.subscribe(request, sink=sink)

    def measures(self) -> tuple[Measure, ...]:
        """What its parts count."""
        return (
            *journal_measures(self.journal),
            *shipping_measures(self.shipper),
            *engine_measures(self.engine),
            *reasoning_measures(self.engine),
            *scheduler_measures(self.scheduler),
        )


@contextmanager
def open_storage(config: Config, clocks: Clocks = SYSTEM_CLOCKS) -> Iterator[Storage]:
    """Open store and journal. Raises ConfigurationError or StorageError with what to do."""
    identity = identity_of(config)
    files = profile_files(config)
    profiles = files.load()
    engine = _open_engine(config, clocks)
    origin = Origin(identity.gateway, identity.base_iri)
    with one_core():
        engine.store.apply(profiles.delta(engine.store, identity.node))
        engine.windowed.read_declared()
        folder, limits = journal_path(config), config.journal.limits()
        with Journal(folder, origin, limits) as journal:
            queues = {"urq": config.limits.urq, "srq": config.limits.srq}
            scheduler = Scheduler(engine, **queues, tick_ms=config.windows.tick_ms)
            shipper = shipper_of(config.shipping, journal)
            upkeep = Upkeep(journal)
            yield Storage(identity, files, profiles, journal, upkeep, shipper, scheduler)


def identity_of(config: Config) -> Identity:
    """By which the gateway names itself and what it makes."""
    return Identity(config.gateway.base_iri, config.gateway.id)


def profile_files(config: Config) -> ProfileFiles:
    """The profiles' files, and those of ontologies."""
    reasoning = config.reasoning
    return ProfileFiles(
        config.jsap.profiles,
        remote_of(config),
        config.saved_profile,
        Listed(reasoning.ontologies, reasoning.annotations),
    )


def store_path(config: Config) -> Path | None:
    """The folder of the store; None: it is in memory."""
    return config.gateway.data_dir / "store" if config.store.kind == "disk" else None


def journal_path(config: Config) -> Path:
    """The folder of the journal."""
    return config.gateway.data_dir / "journal"


def _open_engine(config: Config, clocks: Clocks) -> Engine:
    set_bounds(config.limits.of_form())
    clock, steady = _engine_clocks(clocks)
    engine = Engine.open(
        store_path(config),
        clock=clock,
        steady=steady,
        windows=config.windows.limits(),
        jump_s=config.windows.jump_s,
        performance=Performance() if config.engine.performance else None,
        limits=Limits(config.limits.query_solutions, config.limits.query_s),
        workers=config.engine.workers,
        reasoning=_reasoning(config),
        artq=config.engine.artq,
    )
    engine.store.remote = remote_of(config)
    return engine


def _engine_clocks(clocks: Clocks) -> tuple[Callable[[], int], Callable[[], int] | None]:
    """Clocks of others as the engine takes them; its own where nobody has given some."""
    if clocks is SYSTEM_CLOCKS:
        return microseconds, None
    now, steady = clocks.now, clocks.steady
    return lambda: micros(now()), lambda: round(steady() * 1_000_000)


def _reasoning(config: Config) -> Reasoning | None:
    """What is reasoned on, from `start_reasoning` on; None where nothing is."""
    settings = config.reasoning
    if not settings.is_on:
        return None
    return Reasoning(settings.domains(), settings.derived, at_once=False)


def remote_of(config: Config) -> Remote:
    """The hosts that SERVICE, LOAD and includes may reach."""
    fetch = HttpFetch(config.remote.load_bytes, config.remote.load_s)
    documents = Documents(config.limits.of_documents())
    return Remote(frozenset(config.remote.hosts), fetch, documents)


def shipper_of(settings: ShippingSettings, journal: Journal) -> Shipper | None:
    """None where no landing zone is set; raises ConfigurationError for one that cannot be."""
    if not settings.to:
        return None
    return Shipper(
        journal.folder,
        journal.manifest,
        open_zone(settings.to, settings.options, settings.token_file, settings.ca_file),
        shown(settings.to),
        retry_s=settings.retry_s,
        retry_most_s=settings.retry_most_s,
    )
