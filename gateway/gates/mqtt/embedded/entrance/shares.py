"""`Shares`: how many connections and sessions one client may have, so that others have some too.

Place: between CONNECT and CONNACK. A client is a user, or an address where nobody is asked who they
are (of IPv6 the /64).
"""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from amqtt.session import Session

from gateway.gates.mqtt.embedded.log_lines import LogLines
from gateway.gates.mqtt.embedded.session import state_of
from gateway.gates.mqtt.embedded.settings import BrokerSettings

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

    async def has_session(self, client_id: str, owner: str) -> bool:
        """Whether there is room for the session; one whose client is away makes it, if need be.

        That is the one away longest of its owner, where that has its share, else of whoever has
        most. Linear in the sessions.
        """
        stored, _ = self._sessions.get(client_id, (None, None))
        if stored is not None and state_of(stored).owner == owner:
            return True
        owners = Counter(state_of(session).owner for session, _ in self._sessions.values())
        if owners[owner] >= self._settings.max_client_sessions:
            return await self._forgets_one_of(owner)
        if len(self._sessions) >= self._settings.max_sessions:
            return await self._forgets_one_of(max(owners, key=owners.__getitem__))
        return True

    async def _forgets_one_of(self, owner: str) -> bool:
        for client_id, (session, held) in self._sessions.items():
            if held is None and state_of(session).owner == owner:
                await self._forget(client_id)
                self.forgotten += 1
                if times := self._lines.due(owner):
                    extra = {"client": owner, "client_id": client_id, "times": times}
                    log.warning("broker_session_forgotten", extra=extra)
                return True
        return False
