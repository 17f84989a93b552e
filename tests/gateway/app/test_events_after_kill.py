"""kill -9 while requests state events: the log has what the store has, each once, in order."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from tests.gateway.app.test_kill import COMMAND
from tests.kit.gateways import LOOPBACK, WAIT_S, Program, free_port, write_profile

pytestmark = [pytest.mark.end_to_end, pytest.mark.alone]

Json = dict[str, Any]
EVERY = "SELECT ?n { ?s <urn:n> ?n }"
BEFORE_KILL = 60
"""Answers after which it is killed, at most."""


class Service:
    """A gateway that keeps events, on one folder, started as often as it is killed."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._config = folder / "gateway.toml"
        self._config.write_text(
            f'[gateway]\nid = "test"\n[store]\nkind = "disk"\n[events]\nlog = true\n'
            f"[mqtt]\nport = {free_port()}\n[http]\nport = {self.port}\n[websocket]\nport = 0\n"
            f'[jsap]\nprofiles = ["observations", "{write_profile(folder)}"]\n'
            f'[log]\nformat = "json"\n',
            encoding="utf-8",
        )

    @contextmanager
    def started(self) -> Iterator[Program]:
        with Program(*COMMAND, "run", "--config", str(self._config)) as program:
            program.wait_for('"serving"')
            yield program

    @contextmanager
    def subscribed(self, **members: object) -> Iterator[tuple[Connection, Json]]:
        """A client of all events, and its first notification."""
        with connect(f"ws://{LOOPBACK}:{self.port}/subscribe") as socket:
            body = {"sparql": EVERY, "mode": "event", **members}
            socket.send(json.dumps({"subscribe": body}))
            yield socket, notification(socket)


def notification(socket: Connection) -> Json:
    told: Json = json.loads(socket.recv(WAIT_S))["notification"]
    return told


def numbers(told: Json) -> list[int]:
    return [int(row["n"]["value"]) for row in told["addedResults"]["results"]["bindings"]]


class Writer:
    """Several clients that state numbers, each its own, one request after another."""

    def __init__(self, port: int, clients: int = 3) -> None:
        self.answered: set[int] = set()
        self.enough = Event()
        self._port = port
        self._clients = clients
        self._numbers = count(1)

    def write_until(self, program: Program, answers: int) -> None:
        """State numbers, until so many were answered; then kill the gateway meanwhile."""
        wanted = len(self.answered) + answers
        self.enough.clear()
        threads = [Thread(target=self._write, args=(wanted,)) for _ in range(self._clients)]
        for thread in threads:
            thread.start()
        assert self.enough.wait(WAIT_S)
        program.kill()
        for thread in threads:
            thread.join()

    def _write(self, wanted: int) -> None:
        connection = HTTPConnection(LOOPBACK, self._port, timeout=WAIT_S)
        headers = {"Content-Type": "application/sparql-update"}
        try:
            while True:
                number = next(self._numbers)
                text = f"INSERT DATA {{ <urn:s{number}> <urn:n> {number} }}"
                connection.request("POST", "/update", text, headers)
                connection.getresponse().read()
                self.answered.add(number)
                if len(self.answered) >= wanted:
                    self.enough.set()
        except (OSError, HTTPException):  # it was killed
            connection.close()


def stored(port: int) -> set[int]:
    connection = HTTPConnection(LOOPBACK, port, timeout=WAIT_S)
    headers = {"Content-Type": "application/sparql-query", "Accept": "text/csv"}
    connection.request("POST", "/query", EVERY, headers)
    lines = connection.getresponse().read().decode().split()
    connection.close()
    return {int(line) for line in lines[1:]}


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_events_and_store_are_the_same_after_kills(tmp_path: Path, kills: int) -> None:
    chance = random.Random(7)
    service = Service(tmp_path)
    writer = Writer(service.port)
    begun: dict[str, str] = {}
    for _ in range(kills):
        with service.started() as program:
            if not begun:
                with service.subscribed() as (_, first):
                    begun = first["federation"]["positions"]
            writer.write_until(program, chance.randrange(5, BEFORE_KILL))
    with service.started(), service.subscribed(after=begun) as (socket, first):
        assert "gap" not in first["federation"]
        has = stored(service.port)
        assert writer.answered <= has
        told: list[int] = []
        positions: list[tuple[int, ...]] = []
        while len(told) < len(has):
            each = notification(socket)
            told += numbers(each)
            positions += [
                tuple(map(int, event["position"].replace(".", "-").split("-")))
                for event in each["events"]
            ]
        assert sorted(told) == sorted(has)
        assert positions == sorted(set(positions))
