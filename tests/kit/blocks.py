"""Blocks of commands in documents, and a terminal in which they run as they stand there.

A block that no test can run has `<!-- no-run: why -->` in the line before it.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.kit.gateways import LOOPBACK, Program, wait_until
from tests.paths import ROOT

_BLOCK = re.compile(
    r"(?:^ *<!-- no-run: (?P<why>[^\n]+?) -->\n+)?^ *```(?P<language>sh|console|python)\n"
    r"(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)
_STAYS = re.compile(
    r"^ *(sosa-gateway (subscribe|run|collect)|curl -\w*N|mosquitto_sub)\b", re.MULTILINE
)
RUN_S = 120.0
START_S = 120.0


@dataclass(frozen=True, slots=True)
class Block:
    """Commands, or a program, of a document; `why` says why no test runs it, mostly nothing."""

    language: str
    text: str
    why: str

    @property
    def stays(self) -> bool:
        """Whether it runs until somebody ends it."""
        return self.language != "python" and _STAYS.search(self.text) is not None


def blocks(page: str) -> list[Block]:
    """All of a document, in its order; of the languages of commands and of Python."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(each["language"], each["text"], each["why"] or "") for each in _BLOCK.finditer(text)
    ]


def documents() -> list[str]:
    """Every document of the site that is written by hand."""
    outside = ("README.md", "deploy/raspberrypi/README.md", "ontologies/README.md")
    return [*outside, *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a gateway listens that stands for the one at 8000, 9000 and 1883."""

    http: int
    websocket: int
    mqtt: int

    def environment(self) -> dict[str, str]:
        """Settings for a gateway that is started."""
        names = {"HTTP": self.http, "WEBSOCKET": self.websocket, "MQTT": self.mqtt}
        return {f"SOSA_GATEWAY_{name}__PORT": str(port) for name, port in names.items()}


class Terminal:
    """A folder, and a PATH on which the commands of documents meet the gateway at `ports`.

    Who is root already needs no sudo, and nobody pip; a collector has a free port.
    """

    def __init__(self, folder: Path, ports: Ports) -> None:
        self.folder = folder
        self.patience_s = RUN_S
        self._ports = ports
        programs = folder / "bin"
        programs.mkdir()
        here = f"""-e 's#localhost:8000#{LOOPBACK}:{ports.http}#g' \
-e 's#127.0.0.1:8000#{LOOPBACK}:{ports.http}#g'"""
        collects = '[ "$1" != collect ] || set -- "$@" --port 0'
        self._program(
            programs, "sosa-gateway", f'{collects}\nexec {sys.executable} -m gateway "$@"'
        )
        self._program(programs, "python", f'exec {sys.executable} "$@"')
        self._program(programs, "sudo", 'exec "$@"')
        self._program(programs, "pip", "# what a page wants is what the tests have")
        self._program(
            programs,
            "curl",
            f'for each in "$@"; do shift; set -- "$@" "$(printf %s "$each" | sed {here})"; done\n'
            f'PATH="{os.environ["PATH"]}" exec curl --fail-with-body --no-buffer "$@"',
        )
        for name in ("mosquitto_pub", "mosquitto_sub"):
            where = f'-h {LOOPBACK} -p {ports.mqtt} "$@"'
            elsewhere = f'PATH="{os.environ["PATH"]}" exec stdbuf -oL {name} {where}'
            self._program(programs, name, elsewhere)
        self.environment = {
            "HOME": str(folder),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "SOSA_GATEWAY_URL": f"http://{LOOPBACK}:{ports.http}",
        }

    def run(self, block: Block, typed: str = "") -> str:
        """What it prints; it must succeed. `typed` is what it is told when it asks."""
        done = subprocess.run(
            self._command(block),
            cwd=self.folder,
            env=self.environment,
            check=False,
            timeout=self.patience_s,
            input=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, f"{block.text}{done.stdout}"
        return done.stdout

    @contextmanager
    def running(self, block: Block) -> Iterator[Program]:
        """While it runs; everything that it started is ended."""
        given = (f"{name}={value}" for name, value in self.environment.items())
        with Program("env", "-C", str(self.folder), *given, *self._command(block)) as program:
            try:
                yield program
            finally:
                os.killpg(program.pid, signal.SIGKILL)

    def _command(self, block: Block) -> tuple[str, ...]:
        if block.language == "python":
            return (sys.executable, "-W", "error", "-c", block.text)
        waits = "\nwait" if block.stays else ""
        return ("sh", "-ec", block.text + waits)

    @staticmethod
    def _program(folder: Path, name: str, text: str) -> None:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)


def commands(text: str) -> Block:
    """Commands of a test, for the same terminal."""
    return Block("sh", text, "")


@contextmanager
def gateway_process(
    folder: Path,
    ports: Ports,
    command: Sequence[str] = ("run",),
    settings: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """A gateway, or the demo, as a person starts it in a folder; ready when it begins.

    `settings` are variables of its environment.
    """
    variables = {
        **ports.environment(),
        "SOSA_GATEWAY_GATEWAY__DATA_DIR": str(folder / "data"),
        "SOSA_GATEWAY_STORE__KIND": "memory",
        "PYTHONPATH": str(ROOT),
        **(settings or {}),
    }
    given = (f"{name}={value}" for name, value in variables.items())
    program = (sys.executable, "-m", "gateway", *command)
    with Program("env", "-C", str(folder), *given, *program):
        wait_until(lambda: is_ready(ports.http), START_S)
        yield


def is_ready(port: int) -> bool:
    """Whether a gateway answers there that it is."""
    try:
        return httpx.get(f"http://{LOOPBACK}:{port}/ready").is_success
    except httpx.TransportError:
        return False
