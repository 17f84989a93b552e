"""What systemd is told: ready, alive, stopping; and that who hangs is not told alive."""

import asyncio
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.appliance.watchdog import Watch, Watchdog, disk_is_waited_for
from gateway.runtime.pulse import Pulse
from gateway.runtime.service_manager import ServiceManager
from tests.kit.gateways import WAIT_S, Program

HUNG_S = 100.0


class Manager:
    """systemd's end of the socket."""

    def __init__(self, folder: Path) -> None:
        self.address = str(folder / "notify")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.address)
        self._socket.settimeout(WAIT_S)

    def told(self) -> str:
        return self._socket.recv(4096).decode()

    def told_until(self, words: str) -> list[str]:
        """All up to what has the words."""
        told = [self.told()]
        while words not in told[-1]:
            told.append(self.told())
        return told

    def hears_nothing(self) -> bool:
        self._socket.setblocking(False)
        try:
            return not self._socket.recv(4096)
        except BlockingIOError:
            return True

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    made = Manager(tmp_path)
    yield made
    made.close()


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def watch_of(pulse: Pulse, *, disk: bool = False) -> tuple[Watch, Clock]:
    clock = Clock()
    return Watch([pulse], HUNG_S, clock, lambda: disk), clock


@pytest.fixture
def pulse() -> Pulse:
    """Of a thread that there is."""
    return Pulse(threading.current_thread().name)


def test_who_rests_can_do_so_for_years(pulse: Pulse) -> None:
    watch, clock = watch_of(pulse)
    clock.now = 1e9
    assert watch.hung() == []


def test_who_is_busy_with_one_thing_for_too_long_hangs(pulse: Pulse) -> None:
    watch, clock = watch_of(pulse)
    pulse.beat()
    began = pulse.busy_since
    assert began is not None
    clock.now = began + HUNG_S - 1
    assert watch.hung() == []
    clock.now = began + HUNG_S
    assert watch.hung() == [pulse.thread]
    pulse.beat()
    clock.now = began + HUNG_S
    assert watch.hung() == []


def test_waiting_for_a_slow_disk_is_no_hang(pulse: Pulse) -> None:
    watch, clock = watch_of(pulse, disk=True)
    pulse.beat()
    began = pulse.busy_since
    assert began is not None
    for minute in range(1, 60):
        clock.now = began + minute * 60
        assert watch.hung() == []


def test_time_counts_anew_from_when_the_disk_answered(pulse: Pulse) -> None:
    clock, disk = Clock(), [True]
    watch = Watch([pulse], HUNG_S, clock, lambda: disk[0])
    pulse.beat()
    began = pulse.busy_since
    assert began is not None
    clock.now = began + 500
    assert watch.hung() == []
    disk[0] = False
    clock.now = began + 500 + HUNG_S - 1
    assert watch.hung() == []
    clock.now = began + 500 + HUNG_S
    assert watch.hung() == [pulse.thread]


def test_thread_that_has_ended_hangs() -> None:
    watch, _ = watch_of(Pulse("gone"))
    assert watch.hung() == ["gone"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_this_process_does_not_sleep_on_a_disk() -> None:
    assert not any(disk_is_waited_for() for _ in range(3))


def test_nobody_is_told_where_nobody_asked() -> None:
    silent = ServiceManager.of({})
    assert not silent.is_there
    assert silent.watchdog_s is None
    silent.ready()
    silent.lives()
    silent.close()


def test_the_environment_is_taken_so_that_children_tell_nobody(manager: Manager) -> None:
    environ = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "3000000", "PATH": "/bin"}
    told = ServiceManager.of(environ)
    assert environ == {"PATH": "/bin"}
    assert told.watchdog_s == 3.0
    told.status("two\nlines")
    assert manager.told() == "STATUS=two lines"
    told.close()


@pytest.mark.parametrize(
    "environ",
    [
        {"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"},
        {"WATCHDOG_USEC": "0"},
        {"WATCHDOG_USEC": "soon"},
    ],
)
def test_a_watchdog_of_others_is_none_of_ours(environ: dict[str, str]) -> None:
    assert ServiceManager.of(environ).watchdog_s is None


def test_a_manager_that_is_gone_stops_nobody(tmp_path: Path) -> None:
    told = ServiceManager(str(tmp_path / "gone"), 1.0)
    told.ready()
    told.lives()
    told.close()


async def test_pings_end_when_a_thread_hangs(
    manager: Manager, pulse: Pulse, caplog: pytest.LogCaptureFixture
) -> None:
    watch, clock = watch_of(pulse)
    told = ServiceManager(manager.address, 0.03)
    async with Watchdog(told) as watchdog:
        watchdog.ready(watch)
        assert await asyncio.to_thread(manager.told_until, "WATCHDOG=1") == [
            "READY=1\nSTATUS=serving",
            "WATCHDOG=1",
        ]
        pulse.beat()
        clock.now = (pulse.busy_since or 0.0) + HUNG_S
        last = (await asyncio.to_thread(manager.told_until, "hangs"))[-1]
        assert last == f"STATUS=hangs: {pulse.thread}"
        tasks = [task for task in asyncio.all_tasks() if task.get_name() == "watchdog"]
        if tasks:
            await asyncio.wait(tasks)
        assert manager.hears_nothing()
    told.close()
    (line,) = (record for record in caplog.records if record.getMessage() == "hangs")
    assert "watchdog.py:" in vars(line)["stack"]


async def test_who_stops_lives_until_the_end(manager: Manager) -> None:
    told = ServiceManager(manager.address, 0.03)
    watch, _ = watch_of(Pulse("ended, as it should when the gateway stops"))
    async with Watchdog(told) as watchdog:
        watchdog.ready(watch)
        watchdog.stopping()
        heard = await asyncio.to_thread(manager.told_until, "WATCHDOG=1")
        assert heard == ["READY=1\nSTATUS=serving", "STOPPING=1\nSTATUS=stopping", "WATCHDOG=1"]
    told.close()


FREE_PORTS = "[mqtt]\nport = 0\n[http]\nport = 0\n[websocket]\nport = 0\n"


def service(manager: Manager, folder: Path, watchdog_s: float) -> tuple[str, ...]:
    settings = folder / "gateway.toml"
    settings.write_text(FREE_PORTS)
    told = (f"NOTIFY_SOCKET={manager.address}", f"WATCHDOG_USEC={round(watchdog_s * 1e6)}")
    run = (sys.executable, "-m", "gateway", "run", "--config", str(settings))
    return ("env", *told, *run)


@pytest.mark.end_to_end
def test_a_service_tells_its_start_its_life_and_its_end(manager: Manager, tmp_path: Path) -> None:
    with Program(*service(manager, tmp_path, 0.6)) as program:
        started = manager.told_until("READY=1")
        assert started[0] == "STATUS=starting: store"
        assert manager.told_until("WATCHDOG=1")[-1] == "WATCHDOG=1"
        assert manager.told_until("WATCHDOG=1")[-1] == "WATCHDOG=1"
        assert program.terminate() == 0
        assert "STOPPING=1\nSTATUS=stopping" in manager.told_until("STOPPING")


@pytest.mark.end_to_end
def test_who_is_aborted_says_where_each_thread_stood(manager: Manager, tmp_path: Path) -> None:
    with Program(*service(manager, tmp_path, 60.0)) as program:
        manager.told_until("READY=1")
        program.wait_for("serving")
        os.kill(program.pid, signal.SIGABRT)
        program.wait_for("Fatal Python error: Aborted")
        stood = "".join(program.rest_until("no such line"))
        assert re.search(r"scheduler\.py\", line \d+ in _take", stood)
        assert program.wait() == -signal.SIGABRT
