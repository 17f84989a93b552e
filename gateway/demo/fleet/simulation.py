"""`Simulation`: moves time on, lets the devices act, and waits for the gateway each time.

Place on the way of the data: between the devices and the gateway's broker. In one step of
simulated time everything sent is stored before the clock moves on, so that times of reception and
deadlines are exact however slow the machine is.
"""

import asyncio
from collections.abc import Iterator, Sequence

from gateway.demo.fleet.acts import FLUSH, Act, Connect, Drop, Sent
from gateway.demo.fleet.device import Device
from gateway.demo.fleet.dialects.sparkplug import SparkplugNode
from gateway.demo.fleet.simulated import SimulatedTime
from gateway.demo.fleet.truth import Truth
from gateway.demo.fleet.wire import TIMEOUT_S, Wire
from gateway.errors import StorageError

_WATCH = "fleet-watch"
_ASKED_S = 5.0
"""How long a request of the gateway may take to reach its device."""


class Simulation:
    """A fleet at a gateway's broker; a context manager that ends its connections."""

    def __init__(
        self, fleet: Sequence[Device], time: SimulatedTime, truth: Truth, port: int
    ) -> None:
        self._fleet = fleet
        self._time = time
        self._truth = truth
        self._port = port
        self._wires: dict[str, Wire] = {}
        self._wills: dict[str, Sent] = {}
        self._told: set[tuple[str, bytes]] = set()
        self._changed = asyncio.Event()
        self._given_up = 0
        self._nodes = {each.client: each for each in fleet if isinstance(each, SparkplugNode)}

    async def __aenter__(self) -> "Simulation":
        wills = {_any_device(will.topic, each) for each in self._fleet if (will := each.will())}
        listens = (*sorted(wills), "spBv1.0/+/NDEATH/+")
        watch = Connect(_WATCH, None, listens)
        self._wires[_WATCH] = await Wire.connect(self._port, watch, self._hear)
        return self

    async def __aexit__(self, *_: object) -> None:
        for wire in self._wires.values():
            await wire.close()

    async def step(self) -> None:
        """All that happens at this moment of simulated time."""
        now = self._time.now
        self._truth.advance(now)
        await self.flush()
        used: set[str] = set()
        for device in self._fleet:
            acts = device.act(self._time.now, self._time.elapsed_s)
            await self._perform_all(acts, device, used)
        await self._settle(used)

    async def come_back(self) -> None:
        """All that were connected to a gateway before this one arrive again."""
        used: set[str] = set()
        for device in self._fleet:
            device.forgotten()
            if not device.is_away:
                await self._perform_all(device.arrive(self._time.now), device, used)
        await self._settle(used)

    async def _settle(self, used: set[str]) -> None:
        for client in used & self._wires.keys():
            await self._wires[client].settled()
        await self.flush()
        await self._asked()

    async def _perform_all(self, acts: Iterator[Act], device: Device, used: set[str]) -> None:
        before = ""
        for act in acts:
            if before not in {"", act.client}:  # what one device sends by two ways has an order
                await self._wires[before].settled()
            before = act.client
            used.add(act.client)
            await self._perform(act, device)

    async def _perform(self, act: Act, device: Device) -> None:
        match act:
            case Connect():
                await self._connect(act)
            case Drop(client):
                await self._drop(client, device)
            case Sent():
                self._truth.take(act, self._time.now, device.label)
                self._wires[act.client].publish(act)

    async def _connect(self, act: Connect) -> None:
        node = self._nodes.get(act.client)

        def hear(topic: str, payload: bytes) -> None:
            del topic
            if node is not None:
                node.hear(payload)
                self._changed.set()

        if act.will is not None:
            self._wills[act.client] = act.will
        self._wires[act.client] = await Wire.connect(self._port, act, hear)

    async def _drop(self, client: str, device: Device) -> None:
        """The client goes; its will has come when it returns."""
        wire = self._wires.pop(client)
        await wire.settled()
        will = self._wills.pop(client, None)
        if will is not None:
            self._told.discard((will.topic, will.payload))
        await wire.drop()
        if will is None:
            return
        self._truth.take(will, self._time.now, device.label)
        if not await self._until((will.topic, will.payload)):
            raise StorageError(f"no last will of {client}", "this is a defect of the broker")

    async def _until(self, told: tuple[str, bytes]) -> bool:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                while told not in self._told:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def _asked(self) -> None:
        """Wait, once, for what the gateway must have asked a node; the comparison tells if not."""
        try:
            async with asyncio.timeout(_ASKED_S):
                while self._missing > self._given_up:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            self._given_up = self._missing

    @property
    def _missing(self) -> int:
        return sum(max(0, node.asks - node.asked) for node in self._nodes.values())

    async def flush(self) -> None:
        """Everything before is stored, and what is due at this time was looked at."""
        watch = self._wires[_WATCH]
        watch.publish(Sent(_WATCH, FLUSH, b"1"))
        await watch.settled()

    def _hear(self, topic: str, payload: bytes) -> None:
        self._told.add((topic, payload))
        self._changed.set()


def _any_device(topic: str, device: Device) -> str:
    """The filter of this topic and those like it."""
    return "/".join("+" if device.name in level else level for level in topic.split("/"))
