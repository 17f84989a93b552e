"""`Watches`: who wants to be told that a principal's rights have ended.

Place: gates watch the principals of their subscriptions and connections; the authority looks at
each watched principal once a tick, however many subscriptions it has.
"""

import logging
from collections.abc import Callable

from gateway.errors import GatewayError
from gateway.security.guard import Ended
from gateway.security.principal import Principal

log = logging.getLogger(__name__)

Fault = Callable[[Principal], GatewayError | None]
"""Why a principal's rights have ended, or None while they are in force."""


class Watches:
    """Watched principals; all in the thread of the event loop."""

    def __init__(self) -> None:
        self._watched: dict[Principal, dict[object, Ended]] = {}

    def __len__(self) -> int:
        return len(self._watched)

    def add(self, principal: Principal, ended: Ended) -> Callable[[], None]:
        """Call `ended` once the principal has a fault; gives what stops the watch."""
        key = object()
        self._watched.setdefault(principal, {})[key] = ended

        def stop() -> None:
            listeners = self._watched.get(principal, {})
            listeners.pop(key, None)
            if not listeners:
                self._watched.pop(principal, None)

        return stop

    def look(self, fault: Fault) -> None:
        """Tell the listeners of every principal that has a fault, and forget them."""
        faults = [(each, fault(each)) for each in self._watched]
        for principal, error in faults:
            if error is not None:
                log.info("rights_ended", extra={"identity": principal.identity})
                for ended in self._watched.pop(principal).values():
                    ended(error)
