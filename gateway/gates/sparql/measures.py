"""What the pool of QUERYs counts."""

from collections.abc import Callable

from gateway.gates.sparql.queries_apart import QueriesApart
from gateway.gates.sparql.query_pool import QueryStatistics
from gateway.rdf.documents import Documents
from gateway.runtime.confined import ConfinedProcesses
from gateway.runtime.measures import Measure


def apart_measures(apart: QueriesApart, documents: Documents) -> tuple[Measure, ...]:
    """What is evaluated and parsed in processes of its own."""
    queries, parsers, copies = apart.processes, documents.processes, apart.snapshots
    return (
        Measure(
            "apart",
            "Processes for queries and documents now",
            _now(queries, parsers),
            is_counter=False,
        ),
        Measure("apart_starts", "Processes started", lambda: queries.starts + parsers.starts),
        Measure(
            "apart_deaths", "Processes ended by their work", lambda: queries.deaths + parsers.deaths
        ),
        Measure("snapshots", "Copies of the store made for queries", lambda: copies.made),
        Measure("snapshot_bytes", "Bytes written for these", lambda: copies.bytes_written),
    )


def _now(*processes: ConfinedProcesses) -> Callable[[], int]:
    return lambda: sum(map(len, processes))


def query_measures(seen: QueryStatistics) -> tuple[Measure, ...]:
    """QUERYs by what became of them."""
    return (
        Measure("queries", "QUERYs answered", lambda: seen.answered),
        Measure("queries_refused", "QUERYs beyond the limit", lambda: seen.refused),
        Measure("queries_timed_out", "QUERYs past their time", lambda: seen.timed_out),
        Measure("queries_abandoned", "QUERYs whose client left", lambda: seen.abandoned),
        Measure(
            "queries_waiting", "QUERYs not yet answered", lambda: seen.waiting, is_counter=False
        ),
    )
