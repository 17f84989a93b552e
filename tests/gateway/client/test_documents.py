"""The lines of Python in README and docs/client.md, run as they stand against a gateway."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from gateway.app.gateway import Gateway
from tests.gateway.client.places import chatting
from tests.kit.gateways import LOOPBACK, update
from tests.paths import ROOT


def lines(document: str, containing: str) -> str:
    text = (ROOT / document).read_text(encoding="utf-8")
    [code] = [
        each for each in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if containing in each
    ]
    assert isinstance(code, str)
    return code


async def said(code: str) -> list[str]:
    """What a fresh interpreter prints."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-c", code, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        output, _ = await process.communicate()
    assert process.returncode == 0
    return output.decode().splitlines()


def on_ports(gateway: Gateway) -> str:
    """What takes the place of the host that the README's profile has."""
    channel = f'{{"ws": {{"port": {gateway.websocket_port}, "path": "/subscribe"}}}}'
    return (
        f'"host": "{LOOPBACK}", "sparql11protocol": {{"port": {gateway.http_port}}}, '
        f'"sparql11seprotocol": {{"availableProtocols": {channel}}},'
    )


async def test_the_agent_of_the_readme(tmp_path: Path) -> None:
    async with chatting(tmp_path) as (gateway, _):
        code = lines("README.md", "Consumer(profile")
        now, added = await said(code.replace('"host": "127.0.0.1",', on_ports(gateway)))
    assert now == "now: ()"
    assert "urn:hall" in added


@pytest.mark.parametrize(
    ("containing", "told"),
    [
        ("Aggregator(CHAT", [r'<urn:ann> says "say \"hi\""']),
        ("AsyncClient(CHAT)", ["2 people came at once", "waits: True"]),
    ],
)
async def test_the_agents_of_the_chapter(tmp_path: Path, containing: str, told: list[str]) -> None:
    async with chatting(tmp_path) as (_, profile):
        code = lines("docs/client.md", containing)
        assert await said(code.replace("jsap/profiles/chat.jsap", str(profile))) == told


async def test_the_windows_of_the_chapter(tmp_path: Path) -> None:
    async with chatting(tmp_path) as (gateway, _):
        await update(
            gateway,
            "INSERT DATA { GRAPH <https://sosa-gateway.example/graph/mappings> "
            "{ <urn:my:doors> a gw:ElementStream } }",
        )
        code = lines("docs/client.md", "def hear()")
        code = code.replace('"host": "localhost",', on_ports(gateway))
        elements, added = await said(f"{code}\nhear()")
    assert elements == "0"
    assert "open" in added


def test_the_settings_of_the_chapter() -> None:
    names: dict[str, object] = {}
    exec(compile(lines("docs/client.md", "settings = Settings("), "client.md", "exec"), names)
    assert "thermometer-7" in repr(names["settings"])


def test_every_error_and_agent_is_in_the_chapter() -> None:
    import gateway.client

    text = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
    assert [name for name in gateway.client.__all__ if name not in text and name != "Outcome"] == []
