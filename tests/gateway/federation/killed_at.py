"""A gateway that is killed (kill -9) at a place in its code: python -m … PLACE COUNT run …

Place: under the tests of kills; its process is the gateway, and dies where the place is reached for
the COUNTth time, before anything behind it happens.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

from gateway.cli.command import main
from gateway.engine.compound.event_keeping import EventKeeping
from gateway.federation.carrier import Channel
from gateway.federation.member import Member
from gateway.federation.zenoh_carrier import ZenohCarrier
from gateway.journal.event_log import EventLog


def _logged(reached: Callable[[], None]) -> None:
    """Events are in the log, and not in the store."""
    append = EventLog.append

    def patched(self: EventLog, *arguments: Any) -> None:
        append(self, *arguments)
        reached()

    EventLog.append = patched  # type: ignore[method-assign,assignment]


def _committed(reached: Callable[[], None]) -> None:
    """The store has them, and nobody was told."""
    kept = EventKeeping.kept

    @contextmanager
    def patched(self: EventKeeping, *arguments: Any) -> Iterator[Any]:
        with kept(self, *arguments) as noted:
            yield noted
        reached()

    EventKeeping.kept = patched  # type: ignore[method-assign,assignment]


def _sent(reached: Callable[[], None]) -> None:
    """A member was told, and whoever asked for it has no answer."""
    _after_sending(reached, Channel.DATA, b"event")


def _taken(reached: Callable[[], None]) -> None:
    """What a member told was taken, and is not acknowledged."""
    acknowledge = Member.acknowledge

    def patched(self: Member) -> None:
        if self._behind:
            reached()
        acknowledge(self)

    Member.acknowledge = patched  # type: ignore[method-assign]


def _acknowledged(reached: Callable[[], None]) -> None:
    """It is acknowledged, and clients may have it or not."""
    _after_sending(reached, Channel.ACK, b"ack")


def _after_sending(reached: Callable[[], None], channel: Channel, kind: bytes) -> None:
    send = ZenohCarrier.send

    def patched(self: ZenohCarrier, to: str, by: Channel, payload: bytes) -> None:
        send(self, to, by, payload)
        if by is channel and kind in payload:
            reached()

    ZenohCarrier.send = patched  # type: ignore[method-assign,assignment]


PLACES: Mapping[str, Callable[[Callable[[], None]], None]] = {
    "logged": _logged,
    "committed": _committed,
    "sent": _sent,
    "taken": _taken,
    "acknowledged": _acknowledged,
}


def _dies_at(times: int) -> Callable[[], None]:
    numbers = count(1)

    def reached() -> None:
        if next(numbers) == times:
            os.kill(os.getpid(), signal.SIGKILL)

    return reached


if __name__ == "__main__":
    _place, _times, *_words = sys.argv[1:]
    PLACES[_place](_dies_at(int(_times)))
    sys.exit(main(_words))
