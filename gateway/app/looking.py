"""The gates by which people look into a running gateway, put together.

Built by `app` at the start, beside those of `admin`.
"""

from gateway.admin.streams import Streams
from gateway.app.health import Health
from gateway.app.stages import Stages
from gateway.gates.admin.streams import StreamsGate
from gateway.gates.looking.quiet import QuietGate, QuietSources
from gateway.gates.sparql.query_pool import QueryPool
from gateway.runtime.clocks import SYSTEM_CLOCKS


def looking_gates(stages: Stages, health: Health, pool: QueryPool) -> tuple[object, ...]:
    """Those that `gateway.gates.looking` has routes for, but why; and the streams."""
    reception, reload = stages.reception, stages.control.reload
    quiet = QuietSources(
        queries=lambda: reload.profiles.queries,
        mappings=lambda: reception.mappings.mappings,
        quarantine=reception.quarantine,
        alarms=health.alarms,
        now=SYSTEM_CLOCKS.now,
    )
    return QuietGate(pool, quiet), StreamsGate(_streams(stages), pool)


def _streams(stages: Stages) -> Streams:
    """As the store knows them, with the points and the journal of ingest."""
    reception, journal = stages.reception, stages.storage.journal
    return Streams(
        reception.current_state.streams,
        reception.sparklines,
        journal.folder,
        journal.manifest.last_times,
    )
