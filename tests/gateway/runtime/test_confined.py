"""Confined processes: what they do to themselves costs who asked an error, and nobody else."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from time import monotonic

import pytest

from gateway.errors import GatewayError, QueryTimeoutError, TooLargeError
from gateway.runtime.confined import ConfinedProcesses, Confinement
from gateway.runtime.process import raise_limit
from tests.gateway.runtime.confined_work import ERRORS
from tests.kit.gateways import wait_until

WORK = "tests.gateway.runtime.confined_work"
CONFINED = Confinement(WORK, 64 << 20, "the work", "limits.work_bytes")


@pytest.fixture
def confined() -> Iterator[ConfinedProcesses]:
    processes = ConfinedProcesses(CONFINED)
    try:
        yield processes
    finally:
        processes.close()
        assert not any(map(_runs, _children()))


def _children() -> list[int]:
    told = subprocess.run(["ps", "-o", "pid=,args="], capture_output=True, text=True, check=False)
    lines = (line.split(maxsplit=1) for line in told.stdout.splitlines())
    return [int(pid) for pid, arguments in lines if f"import {WORK}" in arguments]


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def pid(confined: ConfinedProcesses) -> int:
    return int(confined.ask(("pid", 0), 20))


def test_none_runs_before_somebody_asks_and_one_serves_many(confined: ConfinedProcesses) -> None:
    assert len(confined) == 0
    assert pid(confined) == pid(confined)
    assert len(confined) == confined.starts == 1


@pytest.mark.parametrize("length", [0, 1, 65_536, 10_000_000])
def test_answers_and_requests_may_be_long(confined: ConfinedProcesses, length: int) -> None:
    assert len(confined.ask(("length", length), 20)) == length
    assert confined.ask(("x" * length, 0), 20) == b""


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors_come_as_they_were_raised(confined: ConfinedProcesses, number: int) -> None:
    with pytest.raises(type(ERRORS[number])) as raised:
        confined.ask(("error", number), 20)
    assert str(raised.value) == str(ERRORS[number])
    with pytest.raises(ZeroDivisionError):
        confined.ask(("defect", 0), 20)
    assert confined.starts == 1


@pytest.mark.parametrize("what", ["memory", "abort", "crash"])
def test_what_ends_the_process_is_an_error_and_the_next_one_is_served(
    confined: ConfinedProcesses, what: str
) -> None:
    first = pid(confined)
    with pytest.raises(TooLargeError, match=r"64 MiB.*limits\.work_bytes"):
        confined.ask((what, 1 << 30), 20)
    assert pid(confined) != first
    assert not _runs(first)


def test_memory_within_the_limit_is_there_again_and_again(confined: ConfinedProcesses) -> None:
    for _ in range(3):
        assert confined.ask(("memory", 32 << 20), 20)
    for _ in range(10):
        assert confined.ask(("keep", 12 << 20), 20) == b""
    assert confined.starts > 1  # who has grown is replaced


@pytest.mark.alone
@pytest.mark.parametrize("what", ["sleep", "spin"])
def test_time_that_is_over_ends_it(confined: ConfinedProcesses, what: str) -> None:
    first = pid(confined)
    begin = monotonic()
    with pytest.raises(QueryTimeoutError):
        confined.ask((what, 60), 0.2)
    assert monotonic() - begin < 10
    assert not _runs(first)


def test_nobody_waits_for_what_nobody_wants(confined: ConfinedProcesses) -> None:
    is_wanted = threading.Event()
    is_wanted.set()
    threading.Timer(0.1, is_wanted.clear).start()
    with pytest.raises(QueryTimeoutError):
        confined.ask(("sleep", 60), 60, is_wanted.is_set)
    assert len(confined) == 0


def test_several_threads_have_processes_of_their_own(confined: ConfinedProcesses) -> None:
    with ThreadPoolExecutor(3) as threads:
        told = list(threads.map(lambda _: confined.ask(("sleep", 0), 20), range(12)))
    assert told == [b""] * 12
    assert 1 <= confined.starts <= 3


def test_idle_ones_end() -> None:
    confined = ConfinedProcesses(Confinement(WORK, 64 << 20, "work", "x", idle_s=0.1))
    first = pid(confined)
    wait_until(lambda: len(confined) == 0 and not _runs(first))
    assert pid(confined) != first
    confined.close()
    with pytest.raises(GatewayError, match="stopping"):
        pid(confined)


def test_it_answers_beside_thousands_of_open_files(confined: ConfinedProcesses) -> None:
    raise_limit()
    with ExitStack() as open_:
        try:
            for _ in range(1100):
                open_.enter_context(open(os.devnull, "rb"))
        except OSError:
            pytest.skip("so many files may not be open here")
        assert len(confined.ask(("length", 200_000), 20)) == 200_000


def test_gateways_files_and_sockets_are_not_theirs(confined: ConfinedProcesses) -> None:
    with socket.create_server(("127.0.0.1", 0)):
        files = confined.ask(("files", 0), 20).split()
    assert len(files) <= 5
    assert confined.ask(("print", 0), 20) == b""  # which goes nowhere


def test_it_does_not_outlive_the_gateway() -> None:
    script = (
        "import os, threading\n"
        "from tests.gateway.runtime.test_confined import *\n"
        "confined = ConfinedProcesses(CONFINED)\n"
        "print(pid(confined), flush=True)\n"
        "threading.Timer(0.2, os.kill, (os.getpid(), 9)).start()\n"
        "confined.ask(('spin', 0), 60)\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert killed.returncode == -9, killed.stderr
    child = int(killed.stdout)
    wait_until(lambda: not _runs(child))
    assert os.getpid() != child
