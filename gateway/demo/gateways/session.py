"""`sosa-gateway demo --gateways N`: gateways that join, one question over all, one unplugged.

Place: the command line, above the gateways of one house. What is shown is what a person would type,
and what the last gateway's subscriber is told; plain lines, until the duration or Ctrl-C.
"""

import asyncio
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from gateway.app.logs import configure_logs
from gateway.config.settings import LogSettings
from gateway.demo.gateways.house import Pi, house, let_in
from gateway.demo.terminal import Terminal
from gateway.engine import Notification, SubscribeRequest

QUESTION = "SELECT ?room ?t { ?room <urn:warm> ?t ; <urn:empty> true }"
ROOMS = ("kitchen", "bath", "study")
_PAUSE_S = 1.0
_AWAY_S = 4.0


async def run_gateways(count: int, duration_s: float | None, terminal: Terminal) -> None:
    """Run the demo to its end. Raises a GatewayError."""
    configure_logs(LogSettings(level="error"))
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    if duration_s is not None:
        loop.call_later(duration_s, stop.set)
    terminal.say(f"sosa-gateway demo: {count} gateways on this machine; Ctrl-C ends it")
    with TemporaryDirectory(prefix="sosa-gateway-demo-") as folder:
        async with house(Path(folder), count) as pis:
            running = asyncio.create_task(_play(pis, terminal), name="demo-gateways")
            stopped = asyncio.create_task(stop.wait(), name="demo-stop")
            await asyncio.wait({running, stopped}, return_when=asyncio.FIRST_COMPLETED)
            for each in (running, stopped):
                each.cancel()
            with suppress(asyncio.CancelledError):
                await running


async def _play(pis: Sequence[Pi], terminal: Terminal) -> None:
    await _join(pis, terminal)
    last = pis[-1]
    terminal.say(f"{last.name}$ sosa-gateway subscribe --gateways all '{QUESTION}'")
    told = _Told(terminal, asyncio.get_running_loop())
    await last.federation.service.subscribe(SubscribeRequest(QUESTION), told.take)
    turn = 0
    while True:
        await _hear(pis, terminal, turn)
        if turn % len(ROOMS) == 1:
            await _unplug(pis[0], pis[1], terminal)
        turn += 1


async def _join(pis: Sequence[Pi], terminal: Terminal) -> None:
    """What one types at each."""
    first, *others = pis
    terminal.say(f"{first.name}$ sosa-gateway federation create home --codes {len(others)}")
    codes = await asyncio.to_thread(first.create, len(others))
    for pi, code in zip(others, codes, strict=True):
        terminal.say(f"{pi.name}$ sosa-gateway federation join {code} {first.name}.local")
        await let_in(pi, code)
    for pi in pis:
        await pi.heard(len(others))
    terminal.say(f"all {len(pis)} hear each other, by certificates of the federation home")


async def _hear(pis: Sequence[Pi], terminal: Terminal, turn: int) -> None:
    """One hears the thermometer of a room, another that nobody is in it, or somebody."""
    room, degrees = ROOMS[turn % len(ROOMS)], 30 + turn % 5
    is_empty = turn % (2 * len(ROOMS)) < len(ROOMS)
    warm, empty = pis[0], pis[min(1, len(pis) - 1)]
    terminal.say(f"{warm.name} hears: {room} {degrees} °C")
    await warm.update(_set(room, "warm", str(degrees)))
    await asyncio.sleep(_PAUSE_S)
    terminal.say(f"{empty.name} hears: {'nobody' if is_empty else 'somebody'} in the {room}")
    await empty.update(_set(room, "empty", "true" if is_empty else "false"))
    await asyncio.sleep(_PAUSE_S)


async def _unplug(pi: Pi, other: Pi, terminal: Terminal) -> None:
    """Pull the network cable of one for a while; what it hears meanwhile comes as one step."""
    links, keeper = pi.federation.links, pi.federation.keeper
    if links is None or keeper is None:
        return
    membership = keeper.membership
    terminal.say(f"{pi.name} is unplugged")
    await asyncio.to_thread(links.open, None)
    for room in ROOMS:
        terminal.say(f"{pi.name} hears: {room} 40 °C")
        await pi.update(_set(room, "warm", "40"))
    await asyncio.sleep(_AWAY_S)
    terminal.say(f"{pi.name} is plugged in again")
    await asyncio.to_thread(links.open, membership)
    await other.heard(len(other.federation.service.names) - 1)
    await asyncio.sleep(_PAUSE_S)


def _set(room: str, name: str, value: str) -> str:
    place = f"<urn:{room}> <urn:{name}>"
    return f"DELETE WHERE {{ {place} ?old }} ; INSERT DATA {{ {place} {value} }}"


class _Told:
    """Writes what a subscriber is told."""

    def __init__(self, terminal: Terminal, loop: asyncio.AbstractEventLoop) -> None:
        self._terminal = terminal
        self._loop = loop

    def take(self, notification: Notification) -> None:
        """In the scheduler's thread."""
        self._loop.call_soon_threadsafe(self._say, notification)

    def _say(self, notification: Notification) -> None:
        rows = notification.results
        told = [f"- {_row(row)}" for row in rows.removed] + [f"+ {_row(row)}" for row in rows.added]
        where = notification.federation
        at = "" if where is None else "  ".join(f"{n} {p}" for n, p in where.positions.items())
        self._terminal.say(f"    {'   '.join(told) or 'no row'}     at {at}")


def _row(row: Sequence[object]) -> str:
    return " ".join(str(getattr(term, "value", "")).removeprefix("urn:") for term in row)
