"""`latency`: from a publisher's send to the subscriber's notification, at a steady pace.

Place on the way of the data: from broker to WebSocket. Both ends read the machine's monotonic
clock, which is one for all processes; the value of a reading says which one it is.
"""

from collections.abc import Iterator, Sequence

from bench.readings.session import BROKERS, Plan, Played, play_behind, reference
from bench.readings.workload import Workload
from bench.report import Experiment, Figure, Outcome, percentile

RATE = 200.0
READINGS = 4000


def measure(
    readings: int = READINGS, brokers: Sequence[str] = BROKERS, rate: float = RATE
) -> Iterator[Outcome]:
    """The gateway behind each broker."""
    plan = Plan(Workload(readings), publishers=2, rate=rate, timed=True)
    for broker in brokers:
        yield play_behind(broker, "latency", plan, _experiment)


def _experiment(plan: Plan, played: Played) -> Experiment:
    latencies = played.latencies_ms()
    readings = plan.workload.readings
    figures = (
        Figure("readings", readings),
        Figure("timed", len(latencies)),
        Figure("rate", readings / played.elapsed_s, "readings/s", f"{plan.rate:g} wanted"),
        Figure("p50", percentile(latencies, 0.50), "ms"),
        Figure("p99", percentile(latencies, 0.99), "ms"),
        Figure("max", latencies[-1], "ms"),
        Figure("gateway CPU", played.gateway_cpu_s / readings * 1e6, "µs/reading"),
    )
    notes = ("2 publishers; 100 subscriptions, and one to all results, which is timed",)
    return Experiment(f"latency {plan.broker}", figures, played.digest(), reference(plan), notes)
