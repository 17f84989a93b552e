"""`sosa-gateway demo --fleet N`: a gateway, the fleet at its broker, the comparison at the end.

The gateway is the one that ships, on its defaults, in a temporary folder and on free ports; only
its clocks are the simulation's.
"""

import asyncio
import gc
from collections import Counter
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from rich.console import Console

from gateway.app.gateway import Gateway
from gateway.app.logs import configure_logs
from gateway.config.discovery import DiscoverySettings
from gateway.config.settings import (
    SHIPPED_PROFILES,
    Config,
    GatewaySettings,
    HttpSettings,
    JsapSettings,
    LimitsSettings,
    LogSettings,
    MqttSettings,
    WebSocketSettings,
)
from gateway.demo.fleet import comparison, findings
from gateway.demo.fleet.comparison import Compared, compare
from gateway.demo.fleet.device import GATEWAY_ID, STEP_S, Device
from gateway.demo.fleet.dialects import devices
from gateway.demo.fleet.dialects.sparkplug import SparkplugNode
from gateway.demo.fleet.findings import AbsenceLog
from gateway.demo.fleet.means import REQUEST, MeanLog, means
from gateway.demo.fleet.simulated import SimulatedTime, capabilities_update, write_profile
from gateway.demo.fleet.simulation import Simulation
from gateway.demo.fleet.truth import Series, Truth, Wrong

REPORT_S = 2.0
UNKNOWN = "?"
"""The dialect of what no device has sent."""

_QUARANTINE, _QUARANTINE_BYTES = 1_000, 1_000_000
"""Room for all that a device can get wrong in a long run: nothing is pushed out."""


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """`speed` is the most simulated seconds in one of the wall clock, 0 for no bound.

    With `restart` the gateway is stopped and started again at half time.
    """

    count: int
    minutes: float = 60.0
    seed: int = 0
    speed: float = 0.0
    restart: bool = False

    @property
    def halts_s(self) -> list[int]:
        """When a life of the gateway ends, in simulated time."""
        end = int(self.minutes * 60)
        half = end // 2 // STEP_S * STEP_S
        return [half, end] if self.restart and half else [end]


@dataclass(slots=True)
class Outcome:
    """What was compared; the fleet's truth and the gateway are equal, or not."""

    compared: tuple[Compared, ...] = ()
    messages: Counter[str] = field(default_factory=Counter)
    elapsed_s: int = 0
    wall_s: float = 0.0

    @property
    def differences(self) -> list[comparison.Difference]:
        """Differences of all aspects."""
        return [each for compared in self.compared for each in compared.differences]


async def run_fleet(
    options: FleetOptions, console: Console, stop: asyncio.Event | None = None
) -> Outcome:
    """Run a fleet to its end, or until `stop`; raises a GatewayError when it cannot go on."""
    fleet = devices(options.count, options.seed)
    with TemporaryDirectory(prefix="sosa-gateway-fleet-") as name:
        folder = Path(name)
        config = fleet_config(folder, write_profile(fleet, folder), options.count)
        configure_logs(config.log)
        return await _Session(options, fleet, config, console).run(stop or asyncio.Event())


def fleet_config(folder: Path, profile: Path, count: int) -> Config:
    """The defaults of a gateway, in a folder, on free ports, with room for the devices."""
    return Config(
        gateway=GatewaySettings(id=GATEWAY_ID, data_dir=folder / "data"),
        mqtt=MqttSettings(port=0, connections=count + 100, client_connections=count + 100),
        http=HttpSettings(port=0),
        websocket=WebSocketSettings(port=0),
        jsap=JsapSettings(profiles=(SHIPPED_PROFILES / "observations.jsap", profile)),
        discovery=DiscoverySettings(auto_accept=("homeassistant", "zigbee2mqtt")),
        limits=LimitsSettings(
            quarantine_messages=_QUARANTINE * count, quarantine_bytes=_QUARANTINE_BYTES * count
        ),
        log=LogSettings(level="error"),
    )


class _Session:
    def __init__(
        self, options: FleetOptions, fleet: Sequence[Device], config: Config, console: Console
    ) -> None:
        self._options = options
        self._fleet = fleet
        self._config = config
        self._console = console
        self._time = SimulatedTime()
        self._truth = Truth()
        self._absences = AbsenceLog(self._time)
        self._quarantined: list[Wrong] = []
        self._stored: list[findings.Stored] = []
        self._series: list[Series] = []
        self._means = MeanLog()
        self._earlier: Counter[str] = Counter()
        self._began = monotonic()
        self._reported = self._began

    async def run(self, stop: asyncio.Event) -> Outcome:
        for halt_s in self._options.halts_s:
            await self._live(halt_s, stop)
            gc.collect()  # nothing may refer to the store's folder when it is opened again
            if stop.is_set():
                break
        return Outcome(
            tuple(self._compare()),
            self._truth.messages,
            self._time.elapsed_s,
            monotonic() - self._began,
        )

    async def _live(self, halt_s: int, stop: asyncio.Event) -> None:
        """One life of the gateway, until `halt_s`; what is compared is asked at its end."""
        is_first = not self._truth.messages
        async with Gateway(self._config, self._time.clocks) as gateway:
            if is_first and (update := capabilities_update(self._fleet)):
                await gateway.scheduler.update(update)
            await gateway.scheduler.subscribe(findings.ABSENT_QUERY, sink=self._absences)
            self._means = MeanLog()
            await gateway.scheduler.subscribe(REQUEST, sink=self._means)
            async with Simulation(
                self._fleet, self._time, self._truth, gateway.mqtt_port
            ) as simulation:
                if not is_first:
                    self._truth.restart(self._time.now)
                    await simulation.come_back()
                    self._time.elapsed_s += STEP_S
                await _unless_failed(self._play(gateway, simulation, halt_s, stop), gateway)
                await gateway.scheduler.settled()
                self._earlier.update(gateway.statistics())
                self._stored = await findings.stored(gateway.http_port)
                self._series = await findings.series(gateway.http_port)
                self._quarantined = await findings.quarantined(gateway.http_port)

    async def _play(
        self, gateway: Gateway, simulation: Simulation, halt_s: int, stop: asyncio.Event
    ) -> None:
        while True:
            await simulation.step()
            if not self._time.elapsed_s:
                await findings.until_accepted(gateway.http_port, _announced(self._fleet))
                await simulation.flush()
            self._report(gateway)
            if stop.is_set() or self._time.elapsed_s >= halt_s:
                return
            await self._pace()
            self._time.elapsed_s += STEP_S

    async def _pace(self) -> None:
        if self._options.speed:
            due = self._began + self._time.elapsed_s / self._options.speed
            await asyncio.sleep(max(0.0, due - monotonic()))

    def _report(self, gateway: Gateway) -> None:
        now = monotonic()
        if now - self._reported < REPORT_S:
            return
        self._reported = now
        counted = gateway.statistics()
        self._console.print(
            f"{self._time.now:%H:%M:%S} simulated: {self._truth.messages.total()} messages, "
            f"{self._earlier['observations'] + counted['observations']} observations, "
            f"{len(self._truth.absent)} streams absent, "
            f"{self._earlier['quarantined'] + counted['quarantined']} in quarantine"
        )

    def _compare(self) -> Iterable[Compared]:
        truth, labels = self._truth, self._truth.labels
        journal = findings.journalled(self._config.gateway.data_dir / "journal")
        yield compare(
            "observations",
            comparison.observations(truth),
            journal,
            lambda each: labels.get(each.expected.stream, UNKNOWN),
        )
        now = self._time.now
        of_streams: Sequence[tuple[str, Iterable[Any], Iterable[Any]]] = (
            ("store", comparison.in_store(truth), self._stored),
            ("series", truth.series, self._series),
            ("means", means(truth, now), self._means.means()),
            ("absences", truth.absences, self._absences.events),
        )
        for aspect, wanted, found in of_streams:
            yield compare(aspect, wanted, found, lambda each: labels.get(each.stream, UNKNOWN))
        yield compare(
            "quarantine",
            truth.wrong.elements(),
            self._quarantined,
            lambda each: labels.get(each[1], UNKNOWN),
        )
        nodes = [each for each in self._fleet if isinstance(each, SparkplugNode)]
        yield compare(
            "requests",
            [node.name for node in nodes for _ in range(node.asks)],
            [node.name for node in nodes for _ in range(node.asked)],
            lambda each: each.rpartition("-")[0],
        )


async def _unless_failed(playing: Coroutine[object, object, None], gateway: Gateway) -> None:
    """Play to the end, or until the gateway cannot go on; raises why."""
    player = asyncio.create_task(playing, name="fleet-player")
    failed = asyncio.create_task(gateway.wait_closed(), name="fleet-gateway")
    try:
        await asyncio.wait({player, failed}, return_when=asyncio.FIRST_COMPLETED)
        await (failed if failed.done() else player)
    finally:
        player.cancel()
        failed.cancel()
        await asyncio.wait({player, failed})


def _announced(fleet: Iterable[Device]) -> int:
    """How many mappings discovery must make."""
    return sum(len(each.streams()) for each in fleet if each.announced)
