"""What the scheduler counts."""

from gateway.runtime.measures import Measure
from gateway.scheduler.scheduler import Scheduler


def scheduler_measures(scheduler: Scheduler) -> tuple[Measure, ...]:
    """How many UPDATEs wait."""
    return (Measure("urq", "UPDATEs waiting", lambda: scheduler.waiting_updates, is_counter=False),)
