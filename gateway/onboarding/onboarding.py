"""`Onboarding`: what the HTTP API can ask about mappings and do to them.

Place on the way of the data: beside it; a facade over the parts of this package. Its coroutines
are called on the event loop; what reads or changes mappings runs in the scheduler's thread.
"""

from collections.abc import Sequence

from gateway.onboarding.nodes import Members, described, stored_nodes
from gateway.scheduler import Scheduler


class Onboarding:
    """One for each gateway."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    async def mappings(self) -> Sequence[Members]:
        """All mappings, as a profile's JSON."""
        return described(await self._scheduler.look(stored_nodes))
