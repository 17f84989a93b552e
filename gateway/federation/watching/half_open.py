"""`HalfOpen`: links of which one end knows nothing of what the other has done.

    messages, ticks -> up, and nothing comes; away, and something does -> their links are renewed

Place: beside `Member`, between what a carrier tells of presence and of messages. In Zenoh 1.10 one
end may close a link without the other, since its peer was stopped for longer than the lease. The
peer wakes up, takes the next connection for the same link, and declares on it neither itself nor
what it listens to: one end says that nobody is there, the other that all is well, and nothing comes
to it until the connection ends; what it says itself comes by numbers of keys that no longer hold.
Counted in ticks, so that who was stopped itself takes nobody for silent. Source: RFC 9293, section
3.5.1, on half-open connections.
"""

import logging
from collections.abc import Callable, Set

from gateway.federation.limits import HEARD_AWAY, SILENT, SILENT_LONGEST

log = logging.getLogger(__name__)


class HalfOpen:
    """`renew` closes the links to a member, which are opened again by themselves."""

    def __init__(self, renew: Callable[[str], None]) -> None:
        self._renew = renew
        self._heard: set[str] = set()
        self._silent: dict[str, int] = {}
        self._patience: dict[str, int] = {}
        self._heard_away: dict[str, int] = {}

    def heard(self, member: str) -> None:
        """Know that something came of a member."""
        self._heard.add(member)

    def tick(self, up: Set[str], speaking: Set[str]) -> None:
        """Look at who is up, and at those who beat or acknowledge each few ticks while they are."""
        heard, self._heard = self._heard, set()
        self._look_at_away(heard - up, up)
        for name in heard:
            self._patience.pop(name, None)
        self._look_at_silent((up & speaking) - heard)

    def _look_at_away(self, heard: Set[str], up: Set[str]) -> None:
        away = {name: ticks for name, ticks in self._heard_away.items() if name not in up}
        for name in sorted(heard):
            away[name] = away.get(name, 0) + 1
            if away[name] >= HEARD_AWAY:
                del away[name]
                self._close(name, "it is away, and something comes of it")
        self._heard_away = away

    def _look_at_silent(self, silent: Set[str]) -> None:
        self._silent = {name: self._silent.get(name, 0) + 1 for name in sorted(silent)}
        for name, ticks in self._silent.items():
            patience = self._patience.get(name, SILENT)
            if ticks >= patience:
                self._silent[name] = 0
                self._patience[name] = min(2 * patience, SILENT_LONGEST)
                self._close(name, "it is up, and nothing comes of it")

    def _close(self, member: str, why: str) -> None:
        log.warning("federation_link_half_open", extra={"peer": member, "reason": why})
        self._renew(member)
