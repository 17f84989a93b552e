"""Queries over time put together, as [archive] says."""

from collections.abc import Callable

from gateway.admin.streams import Streams
from gateway.app.stages import Stages
from gateway.app.storage import journal_path
from gateway.app.subscribers import rendering_limits
from gateway.config.settings import SHIPPED_PROFILES, Config
from gateway.gates.admin.streams import StreamsGate
from gateway.gates.sparql.history import HistoryQueries, Past
from gateway.gates.sparql.query_pool import QueryPool
from gateway.journal.past.sources import GatherLimits, Sources, require_readers
from gateway.profiles import Profiles
from jsap.profile import load_profile
from jsap.shapes.shape import Shapes, shapes_of

_OF_DUCKDB = 4
"""DuckDB may take one in so many bytes of what the process may."""


def history_queries(stages: Stages, pool: QueryPool, config: Config) -> HistoryQueries:
    """What answers them. Raises ConfigurationError where an archive cannot be read at all."""
    settings, bounds = config.archive, rendering_limits(config.limits)
    limits = GatherLimits(settings.rows, memory_bytes=settings.memory_bytes // _OF_DUCKDB)
    past = None
    if settings.folder is not None:
        require_readers()
        engine, reload = stages.storage.engine, stages.control.reload
        past = Past(
            Sources(settings.folder, journal_path(config)),
            stages.subscribing.apart.snapshots,
            _Shapes(lambda: reload.profiles),
            dict(load_profile(SHIPPED_PROFILES / "observations.jsap").namespaces),
            engine.time,
        )
    return HistoryQueries(past, pool, limits, bounds, settings.memory_bytes)


def streams_gate(
    stages: Stages, pool: QueryPool, history: HistoryQueries, config: Config
) -> StreamsGate:
    """Streams as the store knows them, with points and journal of ingest, and the archive."""
    reception, journal = stages.reception, stages.storage.journal
    streams = Streams(
        reception.current_state.streams,
        reception.sparklines,
        journal.folder,
        journal.manifest.last_times,
        history.series(config.gateway.id),
    )
    return StreamsGate(streams, pool)


class _Shapes:
    """The shapes of the profiles as they are now, made once for each of them."""

    def __init__(self, profiles: Callable[[], Profiles]) -> None:
        self._profiles = profiles
        self._made: tuple[Profiles, Shapes] | None = None

    def __call__(self) -> Shapes:
        profiles = self._profiles()
        made = self._made
        if made is None or made[0] is not profiles:
            made = self._made = profiles, shapes_of(profiles.updates)
        return made[1]
