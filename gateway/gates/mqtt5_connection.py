"""`Connection`: one MQTT 5 connection to an external broker, from CONNECT to its loss.

Place on the way of the data: socket → **connection** → gate. It lives in the event loop. Whatever
one read brings is handed on as one batch, and whatever one turn of the loop sends leaves in one
write: at thousands of readings a second a system call for each would be most of the work, since
each lets another thread take the interpreter. Source: OASIS MQTT 5.0, sections 3 and 4.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol, cast

from gateway.errors import BrokerError
from gateway.gates.mqtt5_packets import (
    DISCONNECT,
    PINGREQ,
    Answer,
    Connect,
    Kind,
    Name,
    PacketReader,
    Publish,
)

log = logging.getLogger(__name__)

_ANSWERS = frozenset(
    {Kind.PUBACK, Kind.PUBREC, Kind.PUBCOMP, Kind.SUBACK, Kind.UNSUBACK, Kind.PINGRESP}
)


class Receiver(Protocol):
    """Who takes what comes; called in the event loop, must not block."""

    def accepted(self, connection: "Connection", answer: Answer) -> None:
        """The broker's CONNACK; nothing comes before it."""

    def received(self, messages: Sequence[Publish]) -> None:
        """Messages, in the broker's order."""

    def answered(self, answer: Answer) -> None:
        """The broker's answer to a packet of ours."""

    def writable(self) -> None:
        """The broker reads again, after it did not."""


class Connection(asyncio.Protocol):
    """Sends CONNECT by itself.

    `accepted` is done once the broker has said yes, and raises where it does not; `lost` says why
    the connection ended.
    """

    def __init__(self, connect: Connect, receiver: Receiver) -> None:
        loop = asyncio.get_running_loop()
        self.accepted: asyncio.Future[None] = loop.create_future()
        self.lost: asyncio.Future[str] = loop.create_future()
        self.is_writable = True
        self._loop = loop
        self._connect = connect
        self._receiver = receiver
        self._reader = PacketReader(connect.largest_packet)
        self._transport: asyncio.Transport
        self._leaving: list[bytes] = []
        self._heard_at = loop.time()
        self._paused = False
        self._reason = "the connection was lost"
        self._ping: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        self._transport = cast(asyncio.Transport, transport)
        self.send(self._connect.encode())

    def send(self, packet: bytes) -> None:
        """Have a packet leave with the others of this turn of the loop."""
        if not self._leaving:
            self._loop.call_soon(self._flush)
        self._leaving.append(packet)

    def pause(self) -> None:
        """Read no more: TCP holds the broker up, and the broker its publishers or its queue."""
        self._paused = True
        self._transport.pause_reading()

    def resume(self) -> None:
        """Read again."""
        self._paused = False
        self._heard_at = self._loop.time()
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def close(self) -> None:
        """Say goodbye; the broker keeps the session."""
        self.send(DISCONNECT)
        self._flush()
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self._heard_at = self._loop.time()
        try:
            packets = self._reader.feed(data)
            messages = [packet for packet in packets if isinstance(packet, Publish)]
            if len(messages) < len(packets):
                for packet in packets:
                    if isinstance(packet, Answer):
                        self._answered(packet)
        except BrokerError as error:
            self._abort(str(error))
            return
        if messages:
            self._receiver.received(messages)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        if self._ping is not None:
            self._ping.cancel()
        if not self.accepted.done():
            self.accepted.set_exception(BrokerError(self._reason))
            self.accepted.exception()  # who waited for it may be gone
        if not self.lost.done():
            self.lost.set_result(self._reason if exc is None else str(exc))

    def pause_writing(self) -> None:
        """See asyncio.Protocol."""
        self.is_writable = False

    def resume_writing(self) -> None:
        """See asyncio.Protocol."""
        self.is_writable = True
        self._receiver.writable()

    def _flush(self) -> None:
        leaving, self._leaving = self._leaving, []
        if leaving and not self._transport.is_closing():
            self._transport.write(b"".join(leaving))

    def _answered(self, answer: Answer) -> None:
        if answer.kind is Kind.CONNACK and not self.accepted.done():
            self._welcome(answer)
        elif answer.kind in _ANSWERS:
            self._receiver.answered(answer)
        elif answer.kind is Kind.DISCONNECT:
            self._abort(f"the broker disconnected us: reason {answer.reasons[0]:#04x}")
        else:
            raise BrokerError(f"the broker sent an unexpected {answer.kind.name}")

    def _welcome(self, answer: Answer) -> None:
        if answer.is_refusal:
            raise BrokerError(
                f"the broker refused us: reason {answer.reasons[0]:#04x}",
                "MQTT 5.0, table 3-1, says which; mind user name, password and client id",
            )
        wanted_s = self._connect.keep_alive_s
        keep_alive_s = answer.properties.numbers.get(Name.SERVER_KEEP_ALIVE, wanted_s)
        if keep_alive_s:
            self._listen(keep_alive_s / 2)
        self.accepted.set_result(None)
        self._receiver.accepted(self, answer)

    def _listen(self, pause_s: float) -> None:
        self._ping = self._loop.call_later(pause_s, self._keep_alive, pause_s)

    def _keep_alive(self, pause_s: float) -> None:
        """Ping in good time; a broker that says nothing for three pauses is gone."""
        if not self._paused and self._loop.time() - self._heard_at > 3 * pause_s:
            self._abort("the broker is silent")
            return
        self.send(PINGREQ)
        self._listen(pause_s)

    def _abort(self, reason: str) -> None:
        self._reason = reason
        self._transport.abort()
