"""Where mistakes are made: folders, gateways that run, and what a terminal shows there.

Gateways are processes that several rows share; each has ports of its own, which stand in a row as
the usual ones.
"""

import json
import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from gateway.security.certificates import make_ca
from tests.gateway.cli.mistakes.row import MAPPING, PORTS, Row
from tests.kit.blocks import START_S
from tests.kit.gateways import LOOPBACK, WAIT_S, Device, free_port, wait_until
from tests.kit.small_disk import small_disk
from tests.kit.warmed import Warmed

_PROGRAM = (sys.executable, "-m", "gateway")
_JSON_MAPPING = (
    MAPPING.replace("urn:my:kitchen-temperature", "urn:my:hall-temperature")
    .replace('"kitchen/+/temperature"', '"hall/+"')
    .replace('"scalar"', '"json" ; gw:selector "$.temperature"')
)
_HEATER = {
    "extended": {
        "actuators": [
            {
                "id": "urn:heater",
                "name": "heater",
                "topic": "heater/set",
                "property": "urn:p:target",
                "feature": "urn:room",
                "minimum": 5,
                "maximum": 30,
            }
        ]
    }
}
_IN_2000 = """
import sys
from datetime import UTC, datetime
from gateway.runtime.clocks import SYSTEM_CLOCKS
object.__setattr__(SYSTEM_CLOCKS, "now", lambda: datetime(2000, 1, 1, 0, 3, tzinfo=UTC))
from gateway.__main__ import main
sys.exit(main())
"""
"""A gateway on a computer whose clock nobody has set."""


@dataclass
class Place:
    """A folder to type in; `names` are usual ports and what they are here."""

    folder: Path
    names: Mapping[str, str] = field(default_factory=dict)
    log: Path | None = None

    def here(self, text: str) -> str:
        """The text of a row, with the ports of this place."""
        for usual, port in self.names.items():
            text = text.replace(f":{usual}", f":{port}").replace(f" {usual}", f" {port}")
        return text

    def logged(self) -> str:
        """What the gateway of this place has logged so far."""
        return self.log.read_text(encoding="utf-8") if self.log else ""


def environment() -> dict[str, str]:
    """That of the tests, without a gateway that is known or a configuration."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("SOSA_GATEWAY_")}
    return {**inherited, "XDG_CONFIG_HOME": "/nonexistent", "COLUMNS": "200"}


def typed(place: Place, row: Row, warmed: Warmed | None = None) -> tuple[int, str]:
    """The exit code, and all that came to be read: standard output and error, then the log.

    A command of ours is a copy of the process that is `warmed`, where there is one.
    """
    for name, text in row.files.items():
        (place.folder / name).write_text(place.here(text), encoding="utf-8")
    before = len(place.logged())
    words = shlex.split(place.here(row.typed))
    if words[0] != "sosa-gateway":
        if shutil.which(words[0]) is None:
            pytest.skip(f"{words[0]} is not installed")
    elif warmed and not row.signals:
        output = place.folder / "output"
        code = warmed.run(words[1:], place.folder, output, START_S)
        return code, output.read_text(encoding="utf-8") + place.logged()[before:]
    else:
        words[:1] = _PROGRAM
    if row.signals:
        return _signalled(place, words, row.signals)
    done = subprocess.run(
        words,
        cwd=place.folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=START_S,
    )
    return done.returncode, done.stdout.decode() + place.logged()[before:]


def publish(place: Place, topic: str, payload: bytes) -> None:
    """As a device does; acknowledged when it returns."""
    with Device(int(place.names["1883"]), window=20) as device:
        device.publish([(topic, payload)])


def _signalled(
    place: Place, words: Sequence[str], signals: Sequence[tuple[str, str]]
) -> tuple[int, str]:
    """In a terminal of its own: signals are sent when the words before them have been read."""
    loading = any(after.endswith("\n") for after, _ in signals)
    more = {"PYTHONPROFILEIMPORTTIME": "1"} if loading else {}
    output = place.folder / "output"
    ours, theirs = pty.openpty()
    with output.open("wb") as written:
        process = subprocess.Popen(
            words,
            cwd=place.folder,
            env=environment() | more,
            stdin=theirs,
            stdout=written,
            stderr=written,
            start_new_session=True,
            preexec_fn=_in_a_terminal,  # noqa: PLW1509  # nothing else gives a process a terminal
        )
    os.close(theirs)
    try:
        for after, name in signals:
            wait_until(lambda words=after: words in output.read_text(encoding="utf-8"), START_S)  # type: ignore[misc]
            _send(process, name, ours)
        code = process.wait(START_S)
    finally:
        process.kill()
        process.wait(WAIT_S)
        with suppress(OSError):
            os.close(ours)
    lines = output.read_text(encoding="utf-8").splitlines(keepends=True)
    # A shell tells an end by a signal so.
    code = code if code >= 0 else 128 - code
    return code, "".join(line for line in lines if not line.startswith("import time:"))


def _in_a_terminal() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.close(os.open(os.ttyname(0), os.O_RDWR))  # a session takes the first that it opens


def _send(process: "subprocess.Popen[bytes]", name: str, terminal: int) -> None:
    if name == "SIGHUP":
        os.close(terminal)
    elif name.endswith(" until it has ended"):
        for _ in range(int(WAIT_S / 0.01)):
            process.send_signal(signal.Signals[name.split(maxsplit=1)[0]])
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.01)
                return
    else:
        process.send_signal(signal.Signals[name])


@contextmanager
def _running(folder: Path, ports: Mapping[str, str], program: Sequence[str]) -> Iterator[Place]:
    """A gateway that serves, without a terminal; it must end as a service does."""
    log = folder / "gateway.log"
    place = Place(folder, ports, log)
    with log.open("wb") as output:
        process = subprocess.Popen(
            (*program, "run"),
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        wait_until(lambda: " serving " in place.logged() or process.poll() is not None, START_S)
        assert process.poll() is None, place.logged()
        yield place
        process.terminate()
        assert process.wait(START_S) == 0
        assert "Traceback" not in place.logged()
    finally:
        process.kill()
        process.wait(WAIT_S)


@contextmanager
def gateway(folder: Path) -> Iterator[Place]:
    """One as the README starts it, with the README's mapping and one of JSON."""
    http, mqtt = str(free_port()), str(free_port())
    (folder / "gateway.toml").write_text(
        f"[http]\nport = {http}\n[websocket]\nport = 0\n[mqtt]\nport = {mqtt}\n"
        '[jsap]\nprofiles = ["observations", "heater.jsap"]\n',
        encoding="utf-8",
    )
    (folder / "heater.jsap").write_text(json.dumps(_HEATER), encoding="utf-8")
    with _running(folder, {"8000": http, "1883": mqtt}, _PROGRAM) as place:
        sound = "; ".join((MAPPING, _JSON_MAPPING))
        row = Row("", f"sosa-gateway update {shlex.quote(sound)}", 0, "", "")
        code, told = typed(place, row)
        assert (code, "warning" in told) == (0, False), told
        yield place


@contextmanager
def secured_gateway(folder: Path) -> Iterator[Place]:
    """One by the five commands of docs/security.md, with two clients; short tokens for one."""
    http, mqtt = str(free_port()), str(free_port())
    (folder / "gateway.toml").write_text(
        f'[tls]\nmode = "own"\nhttp_port = {http}\nwebsocket_port = 0\nmqtt_port = {mqtt}\n'
        '[security]\nenabled = true\nuser_token_s = 1.0\n[store]\nkind = "memory"\n',
        encoding="utf-8",
    )
    add = "sosa-gateway client add reader --kind user --query all --subscribe all"
    place = Place(folder)
    assert typed(place, Row("", f"{add} --credentials reader.json", 0, "", "")) == (0, "")
    known = json.loads((folder / "reader.json").read_text(encoding="utf-8"))
    wrong = json.dumps({**known, "client_secret": "guessed"})
    (folder / "wrong.json").write_text(wrong, encoding="utf-8")
    with _running(folder, {"8443": http, "8883": mqtt}, _PROGRAM) as place:
        yield place


@contextmanager
def lonely_gateway(folder: Path) -> Iterator[Place]:
    """One that nobody has given a broker, nor its computer the time."""
    http, mqtt = str(free_port()), str(free_port())
    (folder / "gateway.toml").write_text(
        f'[mqtt]\nmode = "external"\nport = {mqtt}\n[websocket]\nport = 0\n'
        f'[store]\nkind = "memory"\n[http]\nport = {http}\n',
        encoding="utf-8",
    )
    program = (sys.executable, "-c", _IN_2000)
    with _running(folder, {"8000": http, "1883": mqtt}, program) as place:
        wait_until(lambda: place.logged().count("alarm_raised") > 1)
        yield place


@contextmanager
def other_broker(folder: Path) -> Iterator[Place]:
    """A folder whose settings name a broker that lets nobody in."""
    program = shutil.which("mosquitto") or shutil.which("/usr/sbin/mosquitto")
    if program is None:
        pytest.skip("mosquitto is not installed")
    mqtt = str(free_port())
    (folder / "gateway.toml").write_text(
        f'[http]\nport = 0\n[websocket]\nport = 0\n[mqtt]\nmode = "external"\nport = {mqtt}\n'
        'username = "kitchen"\npassword_file = "password"\n',
        encoding="utf-8",
    )
    (folder / "password").write_text("wrong\n", encoding="utf-8")
    (folder / "password").chmod(0o600)
    (folder / "broker.conf").write_text(f"listener {mqtt} {LOOPBACK}\nallow_anonymous false\n")
    command = (program, "-c", str(folder / "broker.conf"))
    log = folder / "broker.log"
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as made:
        try:
            wait_until(lambda: " running" in log.read_text())
            yield Place(folder, {"1883": mqtt})
        finally:
            made.terminate()


@contextmanager
def disk(folder: Path, *, is_full: bool) -> Iterator[Place]:
    """Settings whose folder of data is on a disk that takes nothing."""
    (folder / "gateway.toml").write_text(
        '[gateway]\ndata_dir = "data"\n' + PORTS.replace("memory", "disk") + "0\n", encoding="utf-8"
    )
    with small_disk(folder / "data", "4m") as small:
        if is_full:
            small.fill()
        else:
            subprocess.run(["mount", "-o", "remount,ro", str(small.path)], check=True)
        yield Place(folder)


_MADE: Mapping[str, Callable[[Path], AbstractContextManager[Place]]] = {
    "gateway": gateway,
    "secured gateway": secured_gateway,
    "lonely gateway": lonely_gateway,
    "other broker": other_broker,
    "full disk": partial(disk, is_full=True),
    "read-only disk": partial(disk, is_full=False),
}


class Places:
    """Every place that rows name, made when it is first asked for, and what was read there."""

    def __init__(self, folder: Path, ends: ExitStack, warmed: Warmed | None) -> None:
        self._folder = folder
        self._ends = ends
        self._warmed = warmed
        self._made: dict[str, Place] = {}
        self._read: dict[tuple[object, ...], tuple[int, str]] = {}

    def read(self, row: Row) -> tuple[Place, int, str]:
        """Where, the exit code, all that is read; what is typed alike is typed once."""
        same = (row.at, row.typed, *row.files.items(), *row.signals)
        place = self.place(row.at)
        if any(" 8000\n" in text or " 1883\n" in text for text in row.files.values()):
            place.names = self.place("gateway").names
        if row.published is not None:
            publish(place, *row.published)
            # What is wrong with it is known a moment after it is acknowledged.
            wait_until(
                lambda: place.here(row.wrong).partition("…")[0] in self._type(same, place, row)
            )
        elif same not in self._read:
            self._type(same, place, row)
        return place, *self._read[same]

    def _type(self, same: tuple[object, ...], place: Place, row: Row) -> str:
        self._read[same] = typed(place, row, self._warmed)
        return self._read[same][1]

    def place(self, name: str) -> Place:
        """That of a row; "" is a new folder each time, where the ports of the gateway are known."""
        if name == "":
            return Place(self._new(f"here{len(list(self._folder.iterdir()))}"))
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Place:
        folder = self._new(name.replace(" ", "-"))
        if name == "away":
            names = {**self.place("gateway").names, **self.place("secured gateway").names}
            other = make_ca("another", datetime.now(UTC)).certificate
            (folder / "other.crt").write_bytes(other)
            return Place(folder, names)
        return self._ends.enter_context(_MADE[name](folder))

    def _new(self, name: str) -> Path:
        (self._folder / name).mkdir()
        return self._folder / name
