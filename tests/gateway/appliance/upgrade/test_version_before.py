"""What a gateway of the version before left is there in this one, after a kill, and goes on.

The version before is the newest tag that this commit has behind it; while there is none, the
commit that first said in which form it keeps things (gateway/forms.json): the oldest data that a
release promises to read.
"""

import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from gateway.journal import Record, read_journal
from tests.kit.blocks import Ports, is_ready
from tests.kit.gateways import LOOPBACK, PREFIXES, WAIT_S, Device, Program, free_port, wait_until
from tests.paths import ROOT

pytestmark = [pytest.mark.end_to_end]

PACKAGES = ("adapters", "gateway", "jsap", "ontologies", "spark_batch")
SETTINGS = """\
[gateway]
id = "house"
[store]
latest = 100
[security]
enabled = true
[events]
log = true
"""
MAPPING = """
INSERT DATA { GRAPH <https://sosa-gateway.example/graph/mappings> {
  <urn:my:kitchen> a gw:Mapping ; gw:topicFilter "kitchen/+" ; gw:format "scalar" ;
    gw:sensor "urn:my:sensor:{1}" ; gw:observedProperty <urn:my:temperature> ;
    gw:featureOfInterest <urn:my:room> ; gw:unit unit:DEG_C } }"""
VALUES = PREFIXES + "SELECT ?v { ?o sosa:hasSimpleResult ?v } ORDER BY ?v"
WARM = {"sparql": VALUES, "label": "what is warm"}
BEFORE, SINCE = range(1, 21), range(21, 24)


def git(*words: str) -> bytes:
    command = ("git", "-C", str(ROOT), *words)
    done = subprocess.run(command, check=False, capture_output=True)
    return done.stdout if done.returncode == 0 else b""


def version_before() -> str:
    """Its name in git; the test is skipped where the history does not reach so far."""
    head = set(git("tag", "--points-at", "HEAD").decode().split())
    tags = git("tag", "--merged", "HEAD", "--sort=-creatordate").decode().split()
    versions = (tag for tag in tags if tag not in head and re.fullmatch(r"v?\d+\.\d+\.\d+", tag))
    first = (
        git("log", "--diff-filter=A", "--format=%H", "--", "gateway/forms.json").decode().split()
    )
    if git("rev-parse", "--is-shallow-repository").strip() != b"false" or not first:
        pytest.skip("the history of this checkout does not reach the version before")
    return next(versions, first[-1])


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code of the version before."""
    folder = tmp_path_factory.mktemp("before")
    packed = git("archive", "--format=tar", version_before(), *PACKAGES)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


class Served:
    """A gateway that runs by some version's code, and who is let in."""

    def __init__(self, folder: Path, ports: Ports, token: str = "") -> None:
        self._ports = ports
        self._agent = json.loads((folder / "agent.json").read_text())
        self._thing = json.loads((folder / "thing.json").read_text())
        self.token = token or self._new_token()
        self.http = httpx.Client(
            base_url=f"http://{LOOPBACK}:{ports.http}",
            headers={"Authorization": f"Bearer {self.token}"},
        )

    def _new_token(self) -> str:
        answer = httpx.post(
            f"http://{LOOPBACK}:{self._ports.http}/oauth/token",
            data={"grant_type": "client_credentials"},
            auth=(self._agent["client_id"], self._agent["client_secret"]),
        )
        return str(answer.raise_for_status().json()["access_token"])

    def publish(self, numbers: range) -> None:
        login = (self._thing["client_id"], self._thing["client_secret"])
        with Device(self._ports.mqtt, login=login) as device:
            device.publish([("kitchen/oven", str(number).encode()) for number in numbers])

    def update(self, text: str) -> None:
        self.http.post("/update", data={"update": PREFIXES + text}).raise_for_status()

    def values(self) -> list[int]:
        answer = self.http.get("/query", params={"query": VALUES}).raise_for_status().json()
        return [int(row["v"]["value"]) for row in answer["results"]["bindings"]]

    def events_after(self, record: Record, count: int) -> list[int]:
        """The first values that a subscriber is told who had the event of a record."""
        after = {"house": f"{record.position.epoch}-{record.position.sequence}.0"}
        body = {"sparql": VALUES.partition("ORDER")[0], "mode": "event", "after": after}
        members = {"authorization": f"Bearer {self.token}"}
        found: list[int] = []
        with connect(f"ws://{LOOPBACK}:{self._ports.websocket}/subscribe") as socket:
            socket.send(json.dumps({"subscribe": body | members}))
            while len(found) < count:
                told = json.loads(socket.recv(WAIT_S))
                assert "notification" in told, told
                notification: dict[str, Any] = told["notification"]
                assert "gap" not in notification.get("federation", {})
                rows = notification["addedResults"]["results"]["bindings"]
                found += [int(row["v"]["value"]) for row in rows]
        return found


@contextmanager
def served(folder: Path, code: Path, token: str = "") -> Iterator[Served]:
    """A gateway on the data of a folder; it is killed, not stopped."""
    ports = Ports(free_port(), free_port(), free_port())
    given = {**ports.environment(), "PYTHONPATH": str(code)}
    words = (f"{name}={value}" for name, value in given.items())
    command = ("env", "-C", str(folder), *words, sys.executable, "-m", "gateway", "run")
    with Program(*command) as program:
        wait_until(lambda: is_ready(ports.http), 120)
        opened = Served(folder, ports, token)
        with closing(opened.http):
            yield opened
        program.kill()


def let_in(folder: Path, code: Path) -> None:
    """An agent with all rights and a device, by the command of that version."""
    for name, *rights in (
        ("agent", "--query", "all", "--subscribe", "all", "--update", "all", "--may", "mappings"),
        ("thing", "--kind", "device", "--publish", "kitchen/#"),
    ):
        command = (sys.executable, "-m", "gateway", "client", "add", name, *rights)
        file = ("--credentials", f"{name}.json")
        environment = {"PYTHONPATH": str(code), "HOME": str(folder)}
        subprocess.run((*command, *file), cwd=folder, env=environment, check=True, timeout=60)


def test_what_the_version_before_left_is_there(before: Path, tmp_path: Path) -> None:
    (tmp_path / "gateway.toml").write_text(SETTINGS)
    let_in(tmp_path, before)
    with served(tmp_path, before) as old:
        old.update(MAPPING)
        old.publish(BEFORE)
        wait_until(lambda: old.values() == [*BEFORE])
        old.update("INSERT DATA { <urn:my:oven> <urn:my:is> 'hot' }")
        old.http.put("/saved/WARM", json=WARM).raise_for_status()
        mappings = old.http.get("/mappings").raise_for_status().json()
        token = old.token
    records = list(read_journal(tmp_path / "data" / "journal"))
    assert [record.observation.lexical for record in records] == [str(each) for each in BEFORE]
    with served(tmp_path, ROOT, token) as new:
        assert new.values() == [*BEFORE]
        assert mappings
        assert new.http.get("/mappings").raise_for_status().json() == mappings
        assert "WARM" in new.http.get("/saved").raise_for_status().text
        ask = {"query": "ASK { <urn:my:oven> <urn:my:is> 'hot' }"}
        assert new.http.get("/query", params=ask).raise_for_status().json()["boolean"] is True
        new.publish(SINCE)
        wait_until(lambda: new.values() == [*BEFORE, *SINCE])
        behind = [*BEFORE, *SINCE][12:]
        assert new.events_after(records[11], len(behind)) == behind
        assert httpx.get(new.http.base_url.join("/mappings")).status_code == 401
    records = list(read_journal(tmp_path / "data" / "journal"))
    assert len({record.position for record in records}) == len(BEFORE) + len(SINCE)
