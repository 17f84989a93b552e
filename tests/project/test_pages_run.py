"""Pages as a person follows them: their blocks one after another, in a terminal, as they stand.

Pages share a gateway, or the demo; one that counts what there is, or wants settings, has its own.
What a page takes for granted is `given`, what makes its subscribers hear of something is `then`.
"""

import os
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import Empty

import httpx
import pytest

from tests.kit.blocks import (
    START_S,
    Block,
    Ports,
    Terminal,
    blocks,
    commands,
    gateway_process,
    is_ready,
)
from tests.kit.gateways import LOOPBACK, Program, free_port, wait_until
from tests.paths import ROOT

pytestmark = pytest.mark.end_to_end

AGAIN_S = 1.0
NOTHING = ""
NOT_HERE = "not here"
"""In the place of what is told: the block is not run by the test of its page."""


class Later(str):
    """What a subscriber tells only after other blocks of its page, or after `then`."""

    __slots__ = ()


class Again(str):
    """What is told when nobody knows: the block is run until then, or `then` for one that stays."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page and what each of its blocks tells; `NOTHING` of one that only has to succeed."""

    path: str
    told: tuple[str, ...]
    given: str = ""
    then: str = ""
    typed: str = ""
    of_demo: bool = False
    is_alone: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def gateway(self) -> str:
        """Which it is run against; pages of the same one are run by one process."""
        if self.is_alone or self.settings:
            return self.path
        return "the demo" if self.of_demo else "a gateway"


STREAM = """sosa-gateway update 'PREFIX gw: <https://sosa-gateway.example/ns#>
INSERT DATA { GRAPH <https://sosa-gateway.example/graph/mappings> {
  <urn:my:building> a gw:ElementStream } }'"""
BROKEN = """sosa-gateway update 'PREFIX gw: <https://sosa-gateway.example/ns#>
INSERT DATA { GRAPH <https://sosa-gateway.example/graph/mappings> { <urn:m> a gw:Mapping } }'"""
HOT = """sosa-gateway update 'PREFIX sosa: <http://www.w3.org/ns/sosa/>
INSERT DATA { <urn:o> sosa:hasFeatureOfInterest <urn:oven> ; sosa:hasSimpleResult 31 }'"""
A_SENSOR = """sosa-gateway update 'PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX brick: <https://brickschema.org/schema/Brick#>
INSERT DATA { <urn:sensor:a> a brick:Temperature_Sensor .
 GRAPH <https://sosa-gateway.example/graph/ontology> {
  brick:Temperature_Sensor rdfs:subClassOf brick:Sensor } }'"""
HALL = """sosa-gateway mapping apply '{"add": [{"id": "urn:my:hall", "topic": "hall",
  "format": "json", "selector": "$.t", "sensor": "urn:s:hall", "property": "urn:p:temperature",
  "feature": "urn:hall", "unit": "°C"}]}'
mosquitto_pub -q 1 -t hall -m '{"t": 20.5}'"""
WARM = """mosquitto_pub -q 1 -t hall -m '{"t": 26.5}'"""

PAGES = (
    Page("README.md", (Again("heater switch:0.apower"), *[NOT_HERE] * 8), of_demo=True),
    Page("docs/alarms.md", (NOTHING, Later("urn:m")), then=BROKEN),
    Page("docs/events.md", (Later("urn:oven"),), then=HOT),
    Page(
        "docs/federation.md",
        ('"gateway":{"type":"literal"',),
        given="sosa-gateway update 'INSERT DATA { <urn:hall> <urn:warm> 21 }'",
        settings={"SOSA_GATEWAY_FEDERATION__LISTEN": f"{LOOPBACK}:0"},
    ),
    Page(
        "docs/homeassistant.md",
        (NOTHING, "/status online", NOTHING, NOTHING),
        settings={"SOSA_GATEWAY_HOMEASSISTANT__PUBLISH": "true"},
    ),
    Page(
        "docs/http.md",
        ('"status"', '"triples":1', NOTHING, NOTHING, "warm rooms"),
        given=STREAM,
        is_alone=True,
    ),
    Page("docs/looking.md", ('"patterns"', '"stations"', '"stages"'), of_demo=True),
    Page(
        "docs/mappings.md",
        (
            "zigbee2mqtt/kitchen zigbee2mqtt humidity",
            "urn:room:kitchen,https://sosa-gateway.example/property/humidity,40",
            Later("kitchen window"),
            NOTHING,
            "left: ",
            NOTHING,
            "\nfridge ENERGY.Power,118\n",
            "cellar/pump",
            "observations: 1",
            NOTHING,
        ),
        is_alone=True,
    ),
    Page(
        "docs/reasoning.md",
        ("+ ?sensor", NOTHING, NOTHING, "urn:sensor:a"),
        given=A_SENSOR,
        of_demo=True,
    ),
    Page(
        "docs/sensorthings.md",
        ("26.5", NOT_HERE, '"value"', "201", Again("sta/v1.1/Datastreams("), "+ "),
        given=f"{HALL}\n{WARM}",
        then=WARM,
        is_alone=True,
    ),
    Page("docs/streams.md", ("urn:s:hall", '"points"'), given=HALL),
    Page(
        "docs/subscribing.md",
        ('"windows"', '"sequence":0', '"sequence":0'),
        given=STREAM,
    ),
    Page("docs/upgrades.md", ("house.backup", NOT_HERE), typed="correct horse battery staple\n"),
    Page("docs/windows.md", ('"windows"', "tier", '"sequence":0', NOTHING, NOTHING), of_demo=True),
)


def _subscriptions(port: int) -> int:
    text = httpx.get(f"http://{LOOPBACK}:{port}/metrics").text
    (line,) = [each for each in text.splitlines() if each.startswith("sosa_gateway_subscriptions ")]
    return int(float(line.split()[1]))


def _is_above(before: int, port: int) -> bool:
    return _subscriptions(port) > before


def _runs(terminal: Terminal, block: Block, typed: str, told: str) -> None:
    if isinstance(told, Again):
        wait_until(lambda: told in terminal.run(block, typed), START_S)
    else:
        assert told in terminal.run(block, typed), block.text


def _tells(program: Program, told: str, terminal: Terminal, then: str) -> bool:
    terminal.run(commands(then))
    try:
        program.line_with(told, AGAIN_S)
    except Empty:
        return False
    return True


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Page], Ports]]:
    """Where the gateway of a page listens; it is started when the first page wants it."""
    there: dict[str, Ports] = {}
    with ExitStack() as stack:

        def ports_for(page: Page) -> Ports:
            if page.gateway not in there:
                ports = Ports(free_port(), free_port(), free_port())
                folder = tmp_path_factory.mktemp("gateway")
                command = ("demo", "--plain") if page.of_demo else ("run",)
                stack.enter_context(gateway_process(folder, ports, command, page.settings))
                there[page.gateway] = ports
            return there[page.gateway]

        yield ports_for


@pytest.mark.parametrize(
    "page",
    [pytest.param(each, marks=pytest.mark.xdist_group(each.gateway)) for each in PAGES],
    ids=lambda page: page.path,
)
def test_a_page_runs_as_it_stands(
    tmp_path: Path, page: Page, started: Callable[[Page], Ports]
) -> None:
    for name in ("curl", "mosquitto_pub"):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
    ports = started(page)
    terminal = Terminal(tmp_path, ports)
    found = [block for block in blocks(page.path) if not block.why]
    with ExitStack() as stack:
        terminal.run(commands(page.given))
        later: list[tuple[Program, str]] = []
        for block, told in zip(found, page.told, strict=True):
            if told == NOT_HERE:
                continue
            if not block.stays:
                _runs(terminal, block, page.typed, told)
                continue
            before = _subscriptions(ports.http)
            program = stack.enter_context(terminal.running(block))
            if isinstance(told, Later):
                wait_until(partial(_is_above, before, ports.http), START_S)
                later.append((program, told))
            elif isinstance(told, Again):
                wait_until(partial(_tells, program, told, terminal, page.then), START_S)
            else:
                program.wait_for(told, START_S)
        terminal.run(commands(page.then))
        for program, told in later:
            program.wait_for(told)


@pytest.mark.parametrize("path", ["README.md", "docs/house.md"])
def test_the_first_commands_start_a_gateway(tmp_path: Path, path: str) -> None:
    if not (ROOT / ".venv" / "bin" / "activate").exists():
        pytest.skip("no .venv: make setup")
    ports = Ports(free_port(), free_port(), free_port())
    data = f"SOSA_GATEWAY_GATEWAY__DATA_DIR={tmp_path}"
    (block,) = [each for each in blocks(path) if ". .venv/bin/activate\n" in each.text]
    given = (f"{name}={value}" for name, value in ports.environment().items())
    with Program("env", "-C", str(ROOT), data, *given, "sh", "-ec", block.text) as program:
        try:
            wait_until(lambda: is_ready(ports.http), START_S)
        finally:
            os.killpg(program.pid, signal.SIGTERM)
