"""One demo from start to end: a gateway, what publishes to it, a client that watches it.

Ends by Ctrl-C, after `duration_s`, or when the recording is over; the gateway is closed and its
temporary folder removed then.
"""

import asyncio
import os
import signal
import threading
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from gateway.app.gateway import Gateway
from gateway.app.logs import configure_logs
from gateway.client.errors import AgentError
from gateway.config.file import load_config
from gateway.demo import players, view
from gateway.demo.acceptance import Acceptance
from gateway.demo.announced import INTRODUCED
from gateway.demo.options import DemoOptions
from gateway.demo.recording import Recording, read_recording
from gateway.demo.seen import Seen
from gateway.demo.settings import (
    Ports,
    choose_ports,
    client_profile,
    demo_config,
    profile_of,
    standing_queries,
)
from gateway.demo.storeys import build
from gateway.demo.terminal import Terminal
from gateway.demo.witness import Witness, watching
from gateway.errors import StorageError

HOUSE_SPEED = 60.0
PLAIN_PERIOD_S = 1.0


async def run_demo(options: DemoOptions, terminal: Terminal) -> Ports:
    """Run one demo to its end; the ports that it had. Raises a GatewayError where it cannot."""
    terminal.stage("settings")
    wanted = load_config(options.config, os.environ)
    ports = choose_ports(wanted)
    recording = None if options.replay is None else read_recording(options.replay)
    for note in ports.moved:
        terminal.say(note)
    stop = threading.Event()
    _on_signals(stop, terminal)
    with TemporaryDirectory(prefix="sosa-gateway-demo-") as folder:
        profile = profile_of(recording, Path(folder))
        if options.landing is not None:
            options.landing.mkdir(parents=True, exist_ok=True)
        config = demo_config(
            Path(folder),
            ports,
            profile,
            options.landing,
            journal=wanted.journal,
            homeassistant=wanted.homeassistant,
        )
        configure_logs(config.log)
        async with Gateway(config, starting=terminal.stage) as gateway:
            seen = Seen(_addresses(gateway, ports), lambda: monotonic() - terminal.started)
            client = client_profile(profile, gateway.http_port, gateway.websocket_port)
            demo = _Demo(options, recording, terminal, gateway, seen, stop)
            if recording is None:
                await build(gateway.scheduler)
            terminal.stage("subscriptions")
            try:
                url = f"http://127.0.0.1:{gateway.http_port}"
                async with watching(client, url, seen, standing_queries(recording)) as witness:
                    await demo.run(witness)
            except AgentError as error:
                raise StorageError(error.description, error.hint) from error
            return Ports(gateway.mqtt_port, gateway.http_port, gateway.websocket_port, ports.moved)


@dataclass(frozen=True, slots=True)
class _Demo:
    """What takes part in one demo; `stop` ends it."""

    options: DemoOptions
    recording: Recording | None
    terminal: Terminal
    gateway: Gateway
    seen: Seen
    stop: threading.Event

    async def run(self, witness: Witness) -> None:
        """Show what goes on until the player ends, or something fails."""
        self.terminal.stage("devices")
        await witness.look()
        witness.keep_looking()
        if self.options.duration_s is not None:
            asyncio.get_running_loop().call_later(self.options.duration_s, self.stop.set)
        player = asyncio.create_task(asyncio.to_thread(self._play), name="demo-player")
        failed = asyncio.create_task(self.gateway.wait_closed(), name="demo-gateway")
        accepted = asyncio.create_task(self._accept(witness), name="demo-acceptance")
        try:
            await self._show({player, failed, *witness.tasks}, accepted)
        finally:
            self.stop.set()
            failed.cancel()
            accepted.cancel()
            await asyncio.wait({player, failed, accepted})
        self.seen.ends("it ends")
        await witness.settle()
        await witness.look()
        last = view.tally if self.terminal.is_live else view.summary
        for line in (*view.answers(self.seen.sight()), last(self.seen)):
            self.terminal.say(line)

    async def _show(self, tasks: set[asyncio.Task[None]], accepted: asyncio.Task[None]) -> None:
        """Until one of the tasks has ended; raises what it raised, and what `accepted` did."""
        if self.terminal.is_live:
            self.terminal.show(lambda width, height: view.screen(self.seen.sight(), width, height))
        else:
            self.terminal.say(self.seen.sight().addresses)
        told: set[object] = set()
        pending = {*tasks, accepted}
        while not any(task.done() for task in tasks):
            ended, pending = await asyncio.wait(
                pending, timeout=PLAIN_PERIOD_S, return_when=asyncio.FIRST_COMPLETED
            )
            for task in ended:
                task.result()
            if not self.terminal.is_live:
                self._tell(told)

    def _tell(self, told: set[object]) -> None:
        """A plain line, and what was done by itself since the last one."""
        for sentence, requested, is_confirmed in self.seen.sight().effects:
            if is_confirmed and requested not in told:
                told.add(requested)
                self.terminal.say(sentence)
        self.terminal.say(view.line(self.seen))

    async def _accept(self, witness: Witness) -> None:
        """Have what the devices propose accepted, and told, as soon as it is all there."""
        if self.recording is not None:
            return
        acceptance = Acceptance(INTRODUCED)
        await witness.subscribe("PROPOSALS", acceptance.hear)
        accepted = await acceptance.accept_all(witness)
        self.seen.accepted = accepted.short
        self.terminal.say(str(accepted))

    def _play(self) -> None:
        options, port, heard = self.options, self.gateway.mqtt_port, self.seen.acknowledge
        if self.recording is None:
            speed = HOUSE_SPEED if options.speed is None else options.speed
            players.play_house(port, self.stop, heard, speed=speed, seed=options.seed)
        else:
            players.play_recording(
                self.recording, port, self.stop, heard, speed=options.speed or 0.0
            )


def _on_signals(stop: threading.Event, terminal: Terminal) -> None:
    """SIGINT, SIGTERM and a closed terminal end the demo in order; Ctrl-Z suspends it."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    if terminal.is_live:
        loop.add_signal_handler(signal.SIGTSTP, terminal.suspend)


def _addresses(gateway: Gateway, ports: Ports) -> str:
    """WebSockets are on the HTTP port as well; why a port is another one than ever is told too."""
    page = f"in a browser: http://127.0.0.1:{gateway.http_port}/"
    told = [page, f"MQTT at {gateway.mqtt_port}"]
    return "  ".join([*told, *(each.partition(",")[0] for each in ports.moved)])
