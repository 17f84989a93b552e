"""`Child`: a process of a benchmark that says lines and is told lines, and surely ends.

Place on the way of the data: the gateway, the brokers, publishers and subscribers of a benchmark
are processes of their own, so that none of them takes CPU time that is counted for another.
"""

import json
import os
import queue
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO, cast

from gateway.errors import GatewayError

END_TIMEOUT_S = 20.0
START_TIMEOUT_S = 120.0
"""A gateway takes three seconds, and forty beside twenty others on two cores."""
_LAST_WORDS = 20


class ChildFailedError(GatewayError):
    """A process of the benchmark ended, was silent too long, or said what nobody understands."""


class Child:
    """A process from start to end; a context manager. Standard error is read as output."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self._command = list(command)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._said: list[str] = []

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        # All three are pipes, so they are there.
        self._input = cast(TextIO, self._process.stdin)
        self._output = cast(TextIO, self._process.stdout)
        self._reader = threading.Thread(target=self._read, name=f"{self.name} output", daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it: by SIGTERM, and by SIGKILL where that is not enough."""
        self._process.terminate()
        try:
            self._process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._output.close()
        with suppress(BrokenPipeError):  # what it had not been told when it ended
            self._input.close()

    @property
    def has_ended(self) -> bool:
        """Whether it has ended by itself."""
        return self._process.poll() is not None

    def say(self, line: str) -> None:
        """Tell it a line on its standard input."""
        try:
            self._input.write(f"{line}\n")
            self._input.flush()
        except BrokenPipeError as error:
            raise self._failed("has ended") from error

    def wait_for(self, text: str, timeout_s: float = END_TIMEOUT_S) -> str:
        """The next line with the text; raises ChildFailedError when none comes."""
        while True:
            line = self._line(timeout_s)
            if text in line:
                return line

    def result(self, timeout_s: float) -> Mapping[str, Any]:
        """The next line, a JSON object; raises ChildFailedError."""
        line = self._line(timeout_s)
        try:
            members = json.loads(line)
        except ValueError as error:
            raise self._failed(f"said: {' | '.join([line, *self._last_words()])}") from error
        if not isinstance(members, dict):
            raise self._failed(f"said: {line}")
        return members

    def cpu_s(self) -> float:
        """The CPU time it has used, user and system; Linux only (proc_pid_stat(5))."""
        stat = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii")
        ticks = stat.rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def switches(self) -> tuple[int, int]:
        """How often its threads have waited, and were put off their core; those that still are.

        Voluntary and other context switches; Linux only (proc_pid_status(5)).
        """
        waited = put_off = 0
        for status in Path(f"/proc/{self._process.pid}/task").glob("*/status"):
            with suppress(FileNotFoundError):  # the thread has ended
                lines = [line.partition(":") for line in status.read_text("ascii").splitlines()]
                said = {name: value for name, _, value in lines}
                waited += int(said["voluntary_ctxt_switches"])
                put_off += int(said["nonvoluntary_ctxt_switches"])
        return waited, put_off

    @property
    def pid(self) -> int:
        """By which the system knows it."""
        return self._process.pid

    def resident_bytes(self) -> int:
        """The memory of it that is in RAM now; Linux only (proc_pid_statm(5))."""
        statm = Path(f"/proc/{self._process.pid}/statm").read_text(encoding="ascii")
        return int(statm.split()[1]) * resource.getpagesize()

    def _line(self, timeout_s: float) -> str:
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            raise self._failed(f"said nothing for {timeout_s:g} s") from None
        if line is None:
            raise self._failed(f"ended: {' | '.join(self._said[-_LAST_WORDS:])}")
        self._said.append(line)
        return line

    def _last_words(self) -> list[str]:
        """What else it says, if it ends now; a traceback has many lines."""
        self._reader.join(END_TIMEOUT_S)
        rest = [self._lines.get() for _ in range(self._lines.qsize())]
        return [line for line in rest if line is not None][-_LAST_WORDS:]

    def _read(self) -> None:
        for line in self._output:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def _failed(self, what: str) -> ChildFailedError:
        return ChildFailedError(f"the {self.name} of the benchmark {what}")


def python_child(name: str, module: str, specification: str, within: Sequence[str] = ()) -> Child:
    """A module of ours as a process, with one argument, which is JSON.

    `within` is a command that becomes the one behind it, as taskset(1) does.
    """
    return Child(name, [*within, sys.executable, "-m", module, specification])


def free_port() -> int:
    """A TCP port of the loopback interface that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port
