"""What publishes in the demo: the simulated house, or a recording; each runs in a thread.

Place on the way of the data: moves the pure simulation and the file on in real time and hands
their publications to links. A player returns when `stop` is set or nothing is left to publish;
everything that it published has been acknowledged then.
"""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from datetime import UTC, datetime
from threading import Event
from time import monotonic

from gateway.demo.announced import introductions
from gateway.demo.devices import FAN_COMMAND_TOPIC, Publication
from gateway.demo.house import House, step
from gateway.demo.link import Link
from gateway.demo.recording import Recording

TICK_S = 0.25
FAN = "fan7"

Acknowledged = Callable[[float], None]


def play_house(
    port: int, stop: Event, acknowledged: Acknowledged, *, speed: float, seed: int
) -> None:
    """Simulate until `stop`: each tick of the wall clock is `TICK_S * speed` in the house.

    Every device has its own MQTT connection; the fan's also takes its commands. Those that
    announce themselves do so first.
    """
    house = House(seed=seed)
    told = introductions(_now())
    devices = sorted({each.device for each in (*told, *step(house, 0.0, (), _now())[1])})
    with ExitStack() as stack:
        links = {
            name: stack.enter_context(Link(port, f"demo-{name}", acknowledged)) for name in devices
        }
        links[FAN].listen(FAN_COMMAND_TOPIC)
        for introduction in told:
            links[introduction.device].publish(introduction)
        while not stop.wait(TICK_S):
            commands = links[FAN].commands()
            house, published = step(house, TICK_S * speed, commands, _now())
            for publication in published:
                links[publication.device].publish(publication)
        for link in links.values():
            link.drain()


def play_recording(
    recording: Recording, port: int, stop: Event, acknowledged: Acknowledged, *, speed: float
) -> None:
    """Publish every row, in the file's pace times `speed`; as fast as it is taken for speed 0.

    Rows without a time come one a second.
    """
    with Link(port, "demo-replay", acknowledged) as link:
        for publication in _paced(recording.publications(), stop, speed):
            link.publish(publication)
        link.drain()


def _paced(
    publications: Iterable[tuple[Publication, float | None]], stop: Event, speed: float
) -> Iterable[Publication]:
    started = monotonic()
    first: float | None = None
    for number, (publication, seconds) in enumerate(publications):
        due_s = float(number)
        if seconds is not None:
            first = seconds if first is None else first
            due_s = seconds - first
        wait_s = started + due_s / speed - monotonic() if speed else 0.0
        if stop.wait(max(0.0, wait_s)):
            return
        yield publication


def _now() -> datetime:
    return datetime.now(UTC)
