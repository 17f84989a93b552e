"""The README's first subscriptions and first mapping, run as they stand there, on other ports."""

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.app.gateway import Gateway
from tests.kit.gateways import (
    LOOPBACK,
    WAIT_S,
    Program,
    running,
    settings,
    until_subscribed,
    write_profile,
)
from tests.paths import ROOT

pytestmark = pytest.mark.end_to_end

README = (ROOT / "README.md").read_text(encoding="utf-8")
INSERT = "INSERT DATA { <urn:hall> <urn:warm> 21 }"


def _example(language: str, words: str) -> str:
    """The block of the README with these words."""
    blocks = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    (found,) = [block for block in blocks if words in block]
    return str(found)


async def _tells(gateway: Gateway, command: Sequence[str]) -> str:
    """What a program says of an UPDATE, once it has subscribed."""
    before = gateway.scheduler.engine.statistics.subscriptions
    with Program(*command) as program:
        await until_subscribed(gateway, before + 1)
        await gateway.scheduler.update(INSERT)
        return await asyncio.to_thread(program.wait_for, "urn:hall")


async def test_the_first_mapping_gives_the_rows_that_are_shown(tmp_path: Path) -> None:
    if shutil.which("mosquitto_pub") is None:
        pytest.skip("mosquitto-clients is not installed")
    (shown,) = re.findall(r"The subscriber sees\n\n```\n(.*?)```", README, re.DOTALL)
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        command = f"{sys.executable} -m gateway"
        socket = f"--url ws://{LOOPBACK}:{gateway.websocket_port}/subscribe"
        ask = _example("sh", "sosa-gateway subscribe")
        ask = ask.replace("sosa-gateway subscribe", f"exec {command} subscribe {socket}")
        http = f"--url http://{LOOPBACK}:{gateway.http_port}"
        tell = _example("sh", "cat > mapping.ru").replace("mapping.ru", f"{tmp_path}/mapping.ru")
        tell = tell.replace("sosa-gateway update", f"{command} update {http}")
        tell = tell.replace("-q 1", f"-h {LOOPBACK} -p {gateway.mqtt_port} -q 1")
        before = gateway.scheduler.engine.statistics.subscriptions
        with Program("sh", "-c", ask) as program:
            await until_subscribed(gateway, before + 1)
            done = await asyncio.to_thread(
                subprocess.run, ("sh", "-ec", tell), check=False, timeout=WAIT_S
            )
            assert done.returncode == 0
            for line in shown.splitlines():
                assert await asyncio.to_thread(program.wait_for, "?sensor") == f"{line}\n"


async def test_curl_subscribes(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        text = _example("sh", "curl -N").replace("8000", str(gateway.http_port))
        assert '"sequence":1' in await _tells(gateway, ("sh", "-c", f"exec {text}"))


async def test_python_subscribes(tmp_path: Path) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        text = _example("python", "websockets.sync").replace("9000", str(gateway.websocket_port))
        assert "21" in await _tells(gateway, (sys.executable, "-u", "-c", text))


async def test_mosquitto_clients_subscribe(tmp_path: Path) -> None:
    if shutil.which("mosquitto_sub") is None:
        pytest.skip("mosquitto-clients is not installed")
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        options = f"-h 127.0.0.1 -p {gateway.mqtt_port} -q 1"
        text = _example("sh", "sparql/me/answer").replace("-q 1", options)
        listen, _, ask = text.partition("&\n")
        listen = f"exec stdbuf -oL {listen}"
        with Program("sh", "-c", listen) as program:
            before = gateway.scheduler.engine.statistics.subscriptions
            await asyncio.to_thread(subprocess.run, ("sh", "-c", ask), check=True, timeout=WAIT_S)
            await until_subscribed(gateway, before + 1)
            await gateway.scheduler.update(INSERT)
            assert '"sequence":1' in await asyncio.to_thread(program.wait_for, "urn:hall")
