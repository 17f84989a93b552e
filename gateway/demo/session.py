"""One demo from start to end: a gateway, what publishes to it, what watches it.

Ends by Ctrl-C, after `duration_s`, or when the recording is over; the gateway is closed and its
temporary folder removed then.
"""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from rich.console import Console
from rich.live import Live

from gateway.app.gateway import Gateway
from gateway.app.logs import configure_logs
from gateway.config.settings import Config
from gateway.demo import players, view
from gateway.demo.acceptance import PROPOSALS_QUERY, Acceptance
from gateway.demo.activity import Activity
from gateway.demo.announced import INTRODUCED
from gateway.demo.recording import Recording, read_recording
from gateway.demo.settings import choose_ports, demo_config, profile_of, standing_queries
from gateway.demo.view import Moment
from jsap.profile import load_profile

HOUSE_SPEED = 60.0
LIVE_PERIOD_S = 0.25
PLAIN_PERIOD_S = 1.0


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """`replay`: a CSV file instead of the house; `speed`: None for each one's default.

    `landing` is a folder that the gateway ships its segments to.
    """

    replay: Path | None = None
    speed: float | None = None
    duration_s: float | None = None
    plain: bool = False
    seed: int = 0
    landing: Path | None = None


async def run_demo(options: DemoOptions) -> None:
    """Run one demo to its end; raises a GatewayError when it cannot go on."""
    recording = None if options.replay is None else read_recording(options.replay)
    console = Console(highlight=False, soft_wrap=True)
    ports = choose_ports(Config())
    for note in ports.moved:
        console.print(note)
    with TemporaryDirectory(prefix="sosa-gateway-demo-") as folder:
        profile = profile_of(recording, Path(folder))
        if options.landing is not None:
            options.landing.mkdir(parents=True, exist_ok=True)
        config = demo_config(Path(folder), ports, profile, options.landing)
        configure_logs(config.log)
        async with Gateway(config) as gateway:
            console.print(_addresses(gateway))
            activity = Activity()
            queries = load_profile(profile).queries
            for each in standing_queries(recording):
                sink = activity.sink(each.name, is_question=each.is_question)
                await gateway.scheduler.subscribe(queries[each.query_id].text, sink=sink)
            play = _player(options, recording, gateway.mqtt_port, activity)
            async with _accepting(gateway, console, () if recording else INTRODUCED) as accepting:
                await _watch(options, console, gateway, activity, play, accepting=accepting)


@asynccontextmanager
async def _accepting(
    gateway: Gateway, console: Console, topics: Collection[str]
) -> AsyncIterator[asyncio.Task[None]]:
    """Have what is proposed on the topics accepted, and told, as soon as it is all there."""
    acceptance = Acceptance(topics)

    async def accept() -> None:
        if topics:
            await gateway.scheduler.subscribe(PROPOSALS_QUERY, sink=acceptance.sink)
            accepted = await acceptance.accept_all(gateway.http_port)
            console.print(str(accepted), markup=False)

    accepting = asyncio.create_task(accept(), name="demo-acceptance")
    try:
        yield accepting
        if accepting.done():
            await accepting
    finally:
        accepting.cancel()
        await asyncio.wait({accepting})


def _player(
    options: DemoOptions, recording: Recording | None, port: int, activity: Activity
) -> Callable[[threading.Event], None]:
    if recording is None:
        speed = HOUSE_SPEED if options.speed is None else options.speed
        return lambda stop: players.play_house(
            port, stop, activity.acknowledge, speed=speed, seed=options.seed
        )
    return lambda stop: players.play_recording(
        recording, port, stop, activity.acknowledge, speed=options.speed or 0.0
    )


async def _watch(
    options: DemoOptions,
    console: Console,
    gateway: Gateway,
    activity: Activity,
    play: Callable[[threading.Event], None],
    *,
    accepting: asyncio.Task[None],
) -> None:
    """Show what goes on until the player ends; `stop` makes it end, and so does a failed task."""
    stop = threading.Event()
    accepting.add_done_callback(lambda done: stop.set() if _has_failed(done) else None)
    _stop_on_signals(stop)
    if options.duration_s is not None:
        asyncio.get_running_loop().call_later(options.duration_s, stop.set)
    started = monotonic()

    def moment() -> Moment:
        return Moment(monotonic() - started, gateway.statistics())

    player = asyncio.create_task(asyncio.to_thread(play, stop), name="demo-player")
    failed = asyncio.create_task(gateway.wait_closed(), name="demo-gateway")
    show = _show_plain if options.plain or not console.is_terminal else _show_live
    try:
        await show(console, activity, moment, partial(_ended, {player, failed}))
        await (failed if failed.done() else player)
    finally:
        stop.set()
        failed.cancel()
    for answer in view.answers(activity):
        console.print(answer, markup=False)
    console.print(view.summary(activity, moment()))


def _has_failed(task: asyncio.Task[None]) -> bool:
    return not task.cancelled() and task.exception() is not None


Ended = Callable[[float], Awaitable[bool]]


async def _ended(tasks: set[asyncio.Task[None]], timeout_s: float) -> bool:
    """Wait for the end of one, `timeout_s` at most; whether one ended."""
    ended, _ = await asyncio.wait(tasks, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    return bool(ended)


async def _show_plain(
    console: Console, activity: Activity, moment: Callable[[], Moment], ended: Ended
) -> None:
    before = moment()
    while not await ended(PLAIN_PERIOD_S):
        now = moment()
        console.print(view.line(activity, now, before))
        before = now


async def _show_live(
    console: Console, activity: Activity, moment: Callable[[], Moment], ended: Ended
) -> None:
    moments = [moment()]
    with Live(console=console, screen=False, auto_refresh=False) as live:
        while not await ended(LIVE_PERIOD_S):
            moments = [*moments[-8:], moment()]
            title = "sosa-gateway demo"
            live.update(
                view.screen(title, activity, moments[-1], moments[0], console.height), refresh=True
            )


def _stop_on_signals(stop: threading.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)


def _addresses(gateway: Gateway) -> str:
    http = f"http://127.0.0.1:{gateway.http_port}"
    return (
        f"MQTT 127.0.0.1:{gateway.mqtt_port}  SPARQL {http}/query {http}/update  "
        f"SUBSCRIBE ws://127.0.0.1:{gateway.websocket_port}/subscribe"
    )
