"""`Shares`: how many connections and sessions one client may have, so that others have some too.

Place: between CONNECT and CONNACK, and when a client leaves. A client is a user, or an address
where nobody is asked who they are (of IPv6 the /64).
"""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from amqtt.session import Session

from gateway.gates.mqtt.embedded.session import state_of
from gateway.gates.mqtt.embedded.settings import BrokerSettings
from gateway.runtime.log_lines import LogLines

log = logging.getLogger(__name__)

LINE_EACH_S = 600.0


class Shares:
    """Looks at a table of sessions by client id, each with its connection or None.

    Sessions without a connection stand in the order in which their clients left. `forget` removes
    one from the table.
    """

    def __init__(
        self,
        settings: BrokerSettings,
        sessions: Mapping[str, tuple[Session, Any]],
        forget: Callable[[str], Awaitable[None]],
    ) -> None:
        self.forgotten = 0
        self._settings = settings
        self._sessions = sessions
        self._forget = forget
        self._lines = LogLines(LINE_EACH_S)

    def has_connection(self, owner: str) -> bool:
        """Whether there is room for one more connection; linear in the sessions."""
        live = [state_of(session).owner for session, held in self._sessions.values() if held]
        return (
            len(live) < self._settings.max_connections
            and live.count(owner) < self._settings.max_client_connections
        )

    async def thin_out(self, owner: str) -> None:
        """Forget sessions where too many are kept for clients that are away, the oldest first.

        They are those of the owner, where that has more than its share, else of whoever has most.
        Linear in the sessions.
        """
        away = Counter(
            state_of(session).owner for session, held in self._sessions.values() if not held
        )
        while away[owner] > self._settings.max_client_sessions:
            await self._forget_one_of(owner)
            away[owner] -= 1
        while away.total() > self._settings.max_sessions:
            most = max(away, key=away.__getitem__)
            await self._forget_one_of(most)
            away[most] -= 1

    async def _forget_one_of(self, owner: str) -> None:
        client_id = next(
            client_id
            for client_id, (session, held) in self._sessions.items()
            if not held and state_of(session).owner == owner
        )
        await self._forget(client_id)
        self.forgotten += 1
        if times := self._lines.due(owner):
            extra = {"client": owner, "client_id": client_id, "times": times}
            log.warning("broker_session_forgotten", extra=extra)
