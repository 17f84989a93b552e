"""What the pool of QUERYs counts."""

from gateway.gates.sparql.query_pool import QueryStatistics
from gateway.runtime.measures import Measure


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
