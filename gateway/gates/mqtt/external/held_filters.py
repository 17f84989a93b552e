"""`HeldFilters`: the topic filters of our session at an external broker, brought to what is wanted.

Place on the way of the data: in the gate to an external broker, between the mappings and the
broker's SUBSCRIBE. What overlaps gets an identifier, by which copies of a message are told (see
`message_copies`).
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paho.mqtt.client import Client
from paho.mqtt.enums import MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from gateway.gates.mqtt.external.message_copies import identifier_of
from gateway.gates.mqtt.external.overlapping import overlapping
from gateway.gates.mqtt.external.session_filters import SessionFilters

log = logging.getLogger(__name__)

_UNNUMBERED = 0
"""A subscription without identifier (MQTT 5.0, 3.8.2.1.2: they begin with 1)."""


@dataclass(frozen=True, slots=True)
class _Filters:
    """Topic filters, and those of them that match topics of others."""

    all: frozenset[str] = frozenset()
    overlapping: frozenset[str] = frozenset()


class HeldFilters:
    """`want` may be called from any thread, the rest in that of the connection."""

    def __init__(self, session: SessionFilters) -> None:
        self._session = session
        self._wanted = _Filters()
        self._held: dict[str, int] = dict.fromkeys(session.load(), _UNNUMBERED)
        self._is_numbering = True
        self._asked: dict[int, Sequence[str]] = {}

    def want(self, filters: Iterable[str]) -> None:
        """Have these from the next `hold` on, and no others."""
        wanted = frozenset(filters)
        self._wanted = _Filters(wanted, overlapping(wanted))

    def connected(self, properties: Properties | None, *, is_session_present: bool) -> None:
        """The broker remembers our session, or has a new one.

        What is wanted is asked for again also where it remembers: it may have refused before.
        """
        self._asked.clear()
        self._is_numbering = bool(getattr(properties, "SubscriptionIdentifierAvailable", 1))
        kept = self._held if is_session_present else {}
        self._held = {name: _UNNUMBERED for name in kept if name not in self._wanted.all}

    def hold(self, client: Client) -> None:
        """Bring the session to what is wanted: first what is new, so that nothing is missed."""
        wanted = {name: self._number(name) for name in self._wanted.all}
        if wanted == self._held:
            return
        held, self._held = self._held, wanted
        self._session.save(frozenset(held) | frozenset(wanted))
        new = sorted(name for name in wanted if held.get(name) != wanted[name])
        self._subscribe(client, [name for name in new if wanted[name] == _UNNUMBERED], None)
        for name in new:
            if wanted[name] != _UNNUMBERED:
                self._subscribe(client, [name], wanted[name])
        gone = sorted(held.keys() - wanted.keys())
        if gone:
            self._note(client.unsubscribe(gone), gone)
            self._session.save(frozenset(wanted))

    def answered(self, packet_id: int, reasons: Sequence[ReasonCode]) -> None:
        """What the broker says to a SUBSCRIBE or UNSUBSCRIBE."""
        filters = self._asked.pop(packet_id, ())
        refused = [str(reason) for reason in reasons if reason.is_failure]
        if refused:
            log.error("broker_refused", extra={"what": " ".join(filters), "reasons": refused})

    def _number(self, name: str) -> int:
        """The identifier of a subscription that overlaps others, where the broker tells it."""
        if not self._is_numbering or name not in self._wanted.overlapping:
            return _UNNUMBERED
        return identifier_of(name)

    def _subscribe(self, client: Client, names: Sequence[str], number: int | None) -> None:
        if not names:
            return
        # A retained message is sent once, not at each reconnection: it may be without a time.
        options = SubscribeOptions(
            qos=1, noLocal=True, retainHandling=SubscribeOptions.RETAIN_SEND_IF_NEW_SUB
        )
        properties = None
        if number is not None:
            properties = Properties(PacketTypes.SUBSCRIBE)  # type: ignore[no-untyped-call]
            properties.SubscriptionIdentifier = number
        asked = client.subscribe([(each, options) for each in names], properties=properties)
        self._note(asked, names)

    def _note(self, asked: tuple[MQTTErrorCode, int | None], filters: Sequence[str]) -> None:
        """Remember what an answer of the broker will be about."""
        if asked[1] is not None:
            self._asked[asked[1]] = filters
