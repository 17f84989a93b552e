"""`CommandQueue`: what we publish at an external broker, until the broker has it.

Place on the way of the data: in the gate to an external broker, between rules and actuations and
the connection. Commands beyond 1,000 are dropped and counted; those of QoS 1 and 2 are kept over a
lost connection, until their time is over.
"""

import logging
from collections import deque
from dataclasses import dataclass
from math import ceil, inf
from time import monotonic

from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from gateway.gates.mqtt.external.buffered_client import BufferedClient

log = logging.getLogger(__name__)

MOST_COMMANDS = 1000
_UNSENT = 65_536
"""Bytes that may wait for a broker that reads slowly; commands behind them wait here."""


@dataclass(frozen=True, slots=True)
class Command:
    """A message of ours."""

    topic: str
    payload: bytes
    qos: int
    retain: bool
    expires_s: float = inf


class CommandQueue:
    """`put` and `drop` may be called from any thread, the rest in that of the connection.

    `mark` is the user property of all that is sent; `waiting` are the packet ids of what the broker
    has not acknowledged.
    """

    def __init__(self, mark: tuple[str, str]) -> None:
        self.dropped = 0
        self.waiting: set[int] = set()
        self._mark = mark
        self._commands: deque[Command] = deque()
        self._most_qos = 2
        self._largest = 0

    @property
    def is_half_full(self) -> bool:
        """Whether what is no command should leave the room to those that are."""
        return len(self._commands) + len(self.waiting) >= MOST_COMMANDS // 2

    def put(self, command: Command) -> None:
        """Send a command soon; where too many wait already it is dropped."""
        if len(self._commands) + len(self.waiting) >= MOST_COMMANDS:
            self.drop(command.topic)
        else:
            self._commands.append(command)

    def put_first(self, command: Command) -> None:
        """Send a command before all others, however many wait."""
        self._commands.appendleft(command)

    def drop(self, topic: str) -> None:
        """Count a command that is not sent."""
        self.dropped += 1
        log.error("command_dropped", extra={"topic": topic})

    def connected(self, properties: Properties | None) -> None:
        """The broker has said what it takes."""
        self._most_qos = getattr(properties, "MaximumQoS", 2)
        self._largest = getattr(properties, "MaximumPacketSize", 0)

    def send(self, client: BufferedClient) -> None:
        """As much as the broker reads now."""
        while self._commands and client.buffered.unsent < _UNSENT:
            command = self._commands.popleft()
            is_large = self._largest and _size(command, self._mark) > self._largest
            left_s = command.expires_s - monotonic()
            if is_large or left_s <= 0:
                self.drop(command.topic)
                continue
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            properties.UserProperty = self._mark
            if left_s < inf:
                properties.MessageExpiryInterval = ceil(left_s)
            qos = min(command.qos, self._most_qos)
            sent = client.publish(command.topic, command.payload, qos, command.retain, properties)
            if qos:
                self.waiting.add(sent.mid)
            client.send_written()

    def acknowledged(self, packet_id: int, reason: ReasonCode) -> None:
        """The broker has a command, or does not want it."""
        self.waiting.discard(packet_id)
        if reason.is_failure:
            log.error("broker_refused", extra={"what": "a command", "reasons": [str(reason)]})


def _size(command: Command, mark: tuple[str, str]) -> int:
    """An upper bound of the PUBLISH packet: its fields, their lengths, packet id and header."""
    texts = (command.topic, *mark)
    return sum(len(text.encode()) + 2 for text in texts) + len(command.payload) + 12
