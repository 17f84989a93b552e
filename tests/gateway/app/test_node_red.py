"""docs/families/bridges.md: its flow in a Node-RED that runs, from an OPC UA server to the store.

`make node-red` sets it up below build/; without it the test is skipped. The server is a node of the
same package, in the same Node-RED: values go over the protocol all the same.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app.gateway import Gateway
from tests.kit.blocks import Ports, Terminal, blocks
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    Program,
    free_port,
    running,
    settings,
    watch,
    write_profile,
)
from tests.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.end_to_end, pytest.mark.timeout(300)]

NODE_RED = ROOT / "build" / "interop" / "node-red"
PAGE = (ROOT / "docs" / "families" / "bridges.md").read_text(encoding="utf-8")
START_S = 120.0
"""Node-RED loads hundreds of modules, and makes a certificate before it speaks OPC UA."""

SETTINGS = """module.exports = {flowFile: "flows.json", httpAdminRoot: false, httpNodeRoot: false,
  credentialSecret: false, externalModules: {autoInstall: false}};
"""
SEEN = PREFIXES + (
    "SELECT ?sensor ?value { ?o sosa:madeBySensor ?sensor ; sosa:hasSimpleResult ?value ; "
    "sosa:observedProperty <https://sosa-gateway.example/property/temperature> }"
)


def the_mapping() -> dict[str, object]:
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    found: dict[str, object] = json.loads(block)
    return found


def the_flow(opcua: int, gateway: Gateway) -> list[dict[str, Any]]:
    """The flow of the page on the ports of this test, and a server for it to ask."""
    block = re.findall(r"```javascript\n(.*?)```", PAGE, re.DOTALL)[0]
    nodes: list[dict[str, Any]] = json.loads(block)
    by_id = {node["id"]: node for node in nodes}
    by_id["gw-endpoint"]["endpoint"] = f"opc.tcp://{LOOPBACK}:{opcua}/"
    by_id["gw-broker"]["port"] = str(gateway.mqtt_port)
    server = {"id": "plant", "type": "OpcUa-Server", "z": "gw-tab", "port": str(opcua)}
    switched_on = ("constructDefaultAddressSpace", "allowAnonymous", "endpointNone")
    sizes = {"maxConnectionsPerEndpoint": 20, "maxMessageSize": 8192, "maxBufferSize": 8192}
    told = {**server, **dict.fromkeys(switched_on, True), **sizes, "maxSessions": 20}
    return [*nodes, {**told, "users": "", "endpoint": "", "wires": [[]]}]


@contextmanager
def a_node_red(folder: Path, flow: Sequence[object]) -> Iterator[Program]:
    """Node-RED with this flow; without it the test is skipped."""
    node = shutil.which("node")
    if node is None or not (NODE_RED / ".ready").exists():
        pytest.skip("node-red is not installed: make node-red, which needs apt and npm")
    home = folder / "bridge"
    home.mkdir()
    (home / "node_modules").symlink_to(NODE_RED / "node_modules")
    (home / "package.json").write_text((NODE_RED / "package.json").read_text())
    (home / "settings.js").write_text(SETTINGS)
    (home / "flows.json").write_text(json.dumps(flow))
    program = str(NODE_RED / "node_modules" / "node-red" / "red.js")
    alone = ("env", "-i", f"HOME={home}", f"PATH={os.environ['PATH']}")
    options = ("--userDir", str(home), "-s", str(home / "settings.js"))
    with Program(*alone, node, program, *options) as running_program:
        yield running_program


def test_the_commands_of_the_page_start_a_node_red(tmp_path: Path) -> None:
    if shutil.which("npm") is None or not (NODE_RED / ".ready").exists():
        pytest.skip("node-red is not installed: make node-red, which needs apt and npm")
    shutil.copytree(NODE_RED, tmp_path / "bridge", symlinks=True)  # npm looks at what is there
    (block,) = blocks("docs/families/bridges.md")
    terminal, port = Terminal(tmp_path, Ports(0, 0, 0)), free_port()
    terminal.environment["PORT"] = str(port)
    with terminal.running(block) as program:
        program.wait_for("Server now running", START_S)
        assert "Node-RED" in httpx.get(f"http://{LOOPBACK}:{port}/").text


async def test_what_an_opc_ua_server_tells_is_observed(tmp_path: Path) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path, [the_mapping()]))) as gateway:
        seen = await watch(gateway, SEEN)
        with a_node_red(tmp_path, the_flow(free_port(), gateway)):
            await seen.until(lambda: seen.count_added > 0, START_S)
        assert (seen.values(0), seen.values(1)) == (["urn:my:plant-1:MyVariable2"], ["10"])
