"""Clients of SensorThings from the registry, against a gateway, by changing their URL alone.

`make interop` sets up their environment below build/; where it is missing the test is skipped.
"""

import asyncio
import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.gateway.gates.sensorthings.test_sensorthings import STA, served
from tests.paths import AGENTS, ROOT

CLIENTS = ROOT / "build" / "interop" / "sensorthings"


PAGE = (ROOT / "docs" / "sensorthings.md").read_text(encoding="utf-8")


def command(url: str) -> list[str]:
    return [interpreter(), str(AGENTS / "sensorthings_agent.py"), url]


def interpreter() -> str:
    """The Python that has the clients; the test is skipped without it."""
    if not (CLIENTS / ".ready").exists():
        pytest.skip("no frost-sta-client and stapy: make interop, which needs PyPI")
    return str(CLIENTS / "bin" / "python")


async def test_the_page_s_example_runs_as_it_stands(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    async with served(tmp_path, kind="disk") as (gateway, _):
        here = program.replace("localhost:8000", f"localhost:{gateway.http_port}")
        arguments = [interpreter(), "-c", here]
        done = await asyncio.to_thread(
            subprocess.run, arguments, capture_output=True, text=True, timeout=120, check=False
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "my name is: new thing\n"


async def test_clients_of_others_write_and_read(tmp_path: Path) -> None:
    async with served(tmp_path, kind="disk") as (gateway, _):
        arguments = command(f"http://localhost:{gateway.http_port}{STA}")
        done = await asyncio.to_thread(
            subprocess.run, arguments, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout.splitlines()[-1])
    first, streams = said["first"], said["streams"]
    assert first["none"] == []
    assert first["names"] == ["new thing"]
    assert first["owner"] == "IOSB"
    assert first["place"] == [[-115.81, 37.24]]
    assert streams["symbol"] == "°C"
    assert streams["sent"] == 2
    assert streams["filtered"] == [22, 23, 24, 38, 39]
    assert streams["pages"] == [39, 38, 24, 23, 22, 21, 20]
    assert said["stapy"]["names"] == "air"
    assert said["stapy"]["results"][:3] == [20, 21, 22]
