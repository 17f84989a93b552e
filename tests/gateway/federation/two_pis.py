"""Two gateways as processes with certificates, all that they say through proxies; and who checks.

Place: under the tests of partitions. At the `source` somebody states and deletes numbers; at the
`home` a client has them by a union and by events of both. What it was told must be, once all is
well again, what is there, and each event once, in order.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Event, Thread
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from tests.gateway.app.test_kill import COMMAND
from tests.kit.gateways import LOOPBACK, WAIT_S, Program, free_port, write_profile
from tests.kit.namespaces import Namespace
from tests.kit.tcp_proxy import TcpProxy

Json = dict[str, Any]
SOURCE, HOME = "attic", "hall"
KILLED_AT = (sys.executable, "-W", "error", "-m", "tests.gateway.federation.killed_at")
EVERY = "SELECT ?n { ?s <urn:n> ?n }"
PER_S = 40
SETTLED_S = 90.0
"""The longest that a link which is well again may take: lease, dialling, and what waited."""


@dataclass(slots=True)
class Pi:
    """A gateway: where its settings are, where others find it; perhaps in a network of its own."""

    name: str
    folder: Path
    host: str = LOOPBACK
    space: Namespace | None = None
    listen: int = field(default_factory=free_port)
    http: int = field(default_factory=free_port)
    store: str = "memory"

    @property
    def toml(self) -> Path:
        return self.folder / "gateway.toml"

    def write(self, via: str, listen: int, join_port: int, more: str = "") -> None:
        """Its settings; `more` are lines of [federation]."""
        self.folder.mkdir(exist_ok=True)
        self.toml.write_text(
            f'[gateway]\nid = "{self.name}"\n'
            f'[federation]\nvia = "{via}"\nlisten = "{self.host}:{listen}"\n'
            f"join_port = {join_port}\n{more}"
            f'[store]\nkind = "{self.store}"\n[mqtt]\nport = 0\n[http]\nport = {self.http}\n'
            f'[websocket]\nport = 0\n[jsap]\nprofiles = ["observations", '
            f'"{write_profile(self.folder)}"]\n[log]\nformat = "json"\n',
            encoding="utf-8",
        )

    def type(self, *words: str) -> str:
        """What a person types at it; what it says. Raises CalledProcessError."""
        command = self._command("federation", words[0], "--config", str(self.toml), *words[1:])
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    @contextmanager
    def running(self, dies: tuple[str, int] | None = None) -> Iterator[Program]:
        """It serves; `dies`: until a place in its code is reached for so many times."""
        command = COMMAND if dies is None else (*KILLED_AT, *map(str, dies))
        with Program(*self._command("run", "--config", str(self.toml), by=command)) as program:
            program.wait_for('"serving"', SETTLED_S)
            yield program

    def _command(self, *words: str, by: tuple[str, ...] = COMMAND) -> tuple[str, ...]:
        return (*(() if self.space is None else self.space.prefix), *by, *words)

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Sockets that this thread opens are in the gateway's network."""
        with nullcontext() if self.space is None else self.space.entered():
            yield

    @contextmanager
    def asked(self) -> Iterator[HTTPConnection]:
        """Somebody beside it who speaks HTTP."""
        connection = HTTPConnection(LOOPBACK, self.http, timeout=60)
        with self.beside():
            connection.connect()
        with closing(connection):
            yield connection

    def update(self, text: str) -> None:
        """Execute an UPDATE."""
        with self.asked() as connection:
            post(connection, text)

    def members(self) -> list[Json]:
        with self.asked() as connection:
            connection.request("GET", "/federation")
            told: list[Json] = json.loads(connection.getresponse().read())["members"]
            return told

    def hears_all(self) -> bool:
        found = self.members()
        return bool(found) and all(each["state"] == "up" for each in found)

    def join(self, code: str, host: str) -> None:
        """Be a member, as soon as the door is open: within a second."""

        def is_in() -> bool:
            try:
                self.type("join", code, host)
            except subprocess.CalledProcessError:
                return False
            return True

        until(is_in)


class TwoPis:
    """Both, their processes, and the two ways between them: to each one by a proxy of its own."""

    def __init__(self, folder: Path, stack: ExitStack, store: str = "memory") -> None:
        self.stack = stack
        self.source, self.home = (Pi(name, folder / name, store=store) for name in (SOURCE, HOME))
        self._ways = [
            stack.enter_context(TcpProxy(each.listen)) for each in (self.source, self.home)
        ]
        to_source, to_home = (each.port for each in self._ways)
        via, join_port = f"{LOOPBACK}:{to_source}", free_port()
        self.source.write(via, self.source.listen, join_port)
        codes = json.loads(self.source.type("create", "house", "--json"))["codes"]
        self.at_source = stack.enter_context(self.source.running())
        # It says where the proxy is, and listens behind it.
        self.home.write(via, to_home, join_port)
        self.home.join(codes[0], f"{LOOPBACK}:{join_port}")
        self.home.write(via, self.home.listen, join_port)
        self.at_home = stack.enter_context(self.home.running())
        until(self.source.hears_all)
        until(self.home.hears_all)

    def state(self) -> str:
        """How each is to the other, for who looks for what went wrong."""
        return f"{self.source.members()}; {self.home.members()}"

    def stall(self) -> None:
        for each in self._ways:
            each.stall()

    def cut(self) -> None:
        for each in self._ways:
            each.cut()

    def throttle(self, bytes_per_s: float) -> None:
        for each in self._ways:
            each.throttle(bytes_per_s)

    def only_to(self, name: str) -> None:
        """What is said comes to this one alone."""
        to_source, to_home = self._ways
        to_source.one_way(up=name == SOURCE)
        to_home.one_way(up=name == HOME)

    def mend(self) -> None:
        for each in self._ways:
            each.mend()

    @contextmanager
    def stopped(self, program: Program) -> Iterator[None]:
        """A process that does nothing, and whose connections stay."""
        os.kill(program.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(program.pid, signal.SIGCONT)


def until(is_so: Callable[[], bool], limit_s: float = SETTLED_S) -> None:
    """Wait until it is so. Raises TimeoutError."""
    deadline = time.monotonic() + limit_s
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError("it did not become so")
        time.sleep(0.1)


class Writer:
    """States numbers at a gateway, and deletes each third one a while later."""

    def __init__(self, pi: Pi) -> None:
        self.stated: list[int] = []
        self.there: set[int] = set()
        self._pi = pi
        self._ends = Event()
        self._thread = Thread(target=self._write)

    def __enter__(self) -> "Writer":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.set()
        self._thread.join()

    def _write(self) -> None:
        while not self._ends.is_set():
            # One that was stopped for long has closed the connection, perhaps without an answer:
            # what is said again then is no event, if it was heard.
            with suppress(OSError, HTTPException), self._pi.asked() as connection:
                while not self._ends.wait(1 / PER_S):
                    self._state(connection, len(self.stated) + 1)
            self._ends.wait(1 / PER_S)  # it may be down

    def _state(self, connection: HTTPConnection, number: int) -> None:
        old = number - 20
        if old > 0 and old % 3 == 0 and old in self.there:
            post(connection, f"DELETE DATA {{ <urn:s{old}> <urn:n> {old} }}")
            self.there.discard(old)
        post(connection, f"INSERT DATA {{ <urn:s{number}> <urn:n> {number} }}")
        self.stated.append(number)
        self.there.add(number)


def post(connection: HTTPConnection, text: str) -> None:
    headers = {"Content-Type": "application/sparql-update"}
    connection.request("POST", "/update", text, headers)
    answer = connection.getresponse()
    said = answer.read()
    assert answer.status == 200, said


class Client:
    """Has the numbers by a union, and by events, as it is told; `faults` are what cannot be.

    It goes on behind the last event of one `before`; its gateway `ends` perhaps.
    """

    def __init__(self, pi: Pi, before: "Client | None" = None, *, ends: bool = False) -> None:
        self.rows: dict[int, int] = {}
        self.events: list[int] = [] if before is None else before.events
        self.after: dict[str, str] = {} if before is None else before.after
        self.faults: list[str] = []
        self._aliases: dict[str, int] = {}
        self._is_over = ends
        with pi.beside():
            address = f"ws://{LOOPBACK}:{pi.http}/subscribe"
            self._socket: Connection = connect(address, ping_interval=None)
        behind = {"after": self.after} if self.after else {}
        for alias, members in (("union", {}), ("event", {"mode": "event", **behind})):
            body = {"sparql": EVERY, "gateways": "all", "alias": alias, **members}
            self._socket.send(json.dumps({"subscribe": body}))
            self._take(json.loads(self._socket.recv(WAIT_S))["notification"])
        self._thread = Thread(target=self._listen)

    def __enter__(self) -> "Client":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over = True
        self._socket.close()
        self._thread.join()

    def _listen(self) -> None:
        try:
            while True:
                self._take(json.loads(self._socket.recv())["notification"])
        except ConnectionClosed as error:
            if not self._is_over:
                self.faults.append(repr(error))
        except (KeyError, ValueError) as error:
            self.faults.append(repr(error))

    def _take(self, told: Json) -> None:
        alias, sequence = told["alias"], told["sequence"]
        if sequence != self._aliases.get(alias, -1) + 1:
            self.faults.append(f"{alias}: {sequence} follows {self._aliases.get(alias)}")
        self._aliases[alias] = sequence
        if "gap" in told.get("federation", {}):
            self.faults.append(f"a gap: {told['federation']}")
        if alias == "event":
            self.events += numbers(told, "addedResults")
            places = told["federation"]["positions"].items() if not sequence else ()
            self.after = {**dict(places), **self.after}
            self.after |= {each["gateway"]: each["position"] for each in told.get("events", ())}
            return
        for sign, member in ((1, "addedResults"), (-1, "removedResults")):
            for number in numbers(told, member):
                self.rows[number] = self.rows.get(number, 0) + sign
                if self.rows[number] not in (0, 1):
                    self.faults.append(f"{number} is there {self.rows[number]} times")

    def has(self, events: int) -> bool:
        """Whether so many events were told."""
        return len(self.events) >= events

    @property
    def there(self) -> set[int]:
        return {number for number, count in self.rows.items() if count}


def numbers(told: Json, member: str) -> list[int]:
    return [int(row["n"]["value"]) for row in told[member]["results"]["bindings"]]


def check(writer: Writer, client: Client) -> None:
    """All that was stated has come, once and in order; nobody writes any more."""

    def is_all() -> bool:
        return client.has(len(writer.stated)) and client.there == writer.there

    try:
        until(is_all)
    except TimeoutError:
        missing = sorted(set(writer.stated) - set(client.events))
        raise AssertionError(
            f"{len(missing)} events are missing: {missing[:10]}; rows differ by "
            f"{sorted(client.there ^ writer.there)[:10]}; {client.faults}"
        ) from None
    assert client.events == writer.stated
    assert client.faults == []
