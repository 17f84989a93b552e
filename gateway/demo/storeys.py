"""The floors of the demo's house, as data: which room is on which one.

Place: written once at the start of a demo, by the update of its profile; where sensors are follows
from what they observe, and by `building.ttl` on which floor.
"""

from gateway.demo.settings import HOUSE_PROFILE
from gateway.scheduler.scheduler import Scheduler
from jsap.profile import load_profile


async def build(scheduler: Scheduler) -> None:
    """Say which rooms the floors have. Raises a GatewayError."""
    await scheduler.update(load_profile(HOUSE_PROFILE).updates["FLOORS"].text)
