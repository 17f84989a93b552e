"""Home Assistant itself as a program beside the tests, and what it is asked."""

import json
import queue
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.paths import AGENTS, ROOT

INTEROP = ROOT / "build" / "interop"
_ANSWER_S = 120.0


def interpreter(name: str) -> Path:
    """That of an environment below build/interop; without it the test is skipped."""
    folder = INTEROP / name
    if not (folder / ".whole").exists():
        pytest.skip(f"{name} is not installed: make interop, which needs PyPI")
    return folder / "bin" / "python"


class Home:
    """A Home Assistant that runs; each question is answered before the next."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.version, self.setup = self._next()

    def ask(self, *asked: object) -> Any:
        """The answer to a line (tests/kit/agents/home_assistant.py)."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return self._next()

    def wait(self, count: int, seconds: float = 60.0) -> int:
        """How many entities are available, as soon as there are `count` and no others."""
        found = self.ask("wait", count, seconds)
        assert isinstance(found, int)
        return found

    def states(self) -> Mapping[str, Mapping[str, Any]]:
        """Each entity, by its id there."""
        found = self.ask("states")
        assert isinstance(found, dict)
        return found

    def call(self, service: str, entity: str, **data: object) -> None:
        """What its user interface does: `switch.turn_on` and the like."""
        domain, _, name = service.partition(".")
        self.ask("call", domain, name, {"entity_id": entity, **data})

    def log(self) -> list[str]:
        """Its warnings and errors."""
        found = self.ask("log")
        assert isinstance(found, list)
        return found

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

    def _next(self) -> Any:
        return json.loads(self._lines.get(timeout=_ANSWER_S))


@contextmanager
def home(port: int, name: str = "homeassistant") -> Iterator[Home]:
    """One that is connected to the broker at a port; its power fails with the context.

    Unloading its integration would take two seconds each time, and nothing is asked of it then.
    """
    command = [str(interpreter(name)), str(AGENTS / "home_assistant.py"), str(port)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Home(process)
        finally:
            process.kill()
