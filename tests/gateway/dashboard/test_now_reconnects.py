"""Now after a gateway that was killed, a socket that was cut, a laptop that slept: exact again."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from time import monotonic

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.gateway.app.test_kill import COMMAND
from tests.gateway.dashboard.opened import SAMPLES, at_home, house, seat, send, url
from tests.gateway.dashboard.tables import shown, until_exact
from tests.kit.gateways import (
    LOOPBACK,
    Program,
    Publication,
    free_port,
    publish,
    write_profile,
)

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("dashboard")]

TOLD_WITHIN_S = 5.0
LATER = [("home/office/temperature", b"19.5"), ("home/kitchen/occupancy", b"false")]
LATEST = [("home/office/temperature", b"18.25"), ("home/kitchen/opening", b"true")]


class Service:
    """A gateway that can be killed and started again at the same addresses."""

    def __init__(self, folder: Path) -> None:
        self.mqtt_port, self._http = free_port(), free_port()
        self._config = folder / "gateway.toml"
        self._config.write_text(
            f'[gateway]\nid = "test"\n[store]\nkind = "disk"\n[mqtt]\nport = {self.mqtt_port}\n'
            f"[http]\nport = {self._http}\n[websocket]\nport = 0\n[jsap]\n"
            f'profiles = ["observations", "{write_profile(folder, house())}"]\n'
            f'[log]\nformat = "json"\n',
            encoding="utf-8",
        )

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self._http}"

    @contextmanager
    def started(self) -> Iterator[Program]:
        with Program(*COMMAND, "run", "--config", str(self._config)) as program:
            program.wait_for('"serving"')
            yield program

    async def hear(self, *publications: Publication) -> None:
        await publish(self.mqtt_port, publications)


class Proxy:
    """Hands bytes on between a browser and a gateway, until it is told to cut or to stop."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_cut = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """The address that a browser opens."""
        server = await asyncio.start_server(self._serve, LOOPBACK, 0)
        try:
            yield f"http://{LOOPBACK}:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()
            await self.cut()

    async def cut(self) -> None:
        """End every connection and refuse new ones."""
        self._is_cut = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def mend(self) -> None:
        self._is_cut = False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        other, way = await asyncio.open_connection(LOOPBACK, self._target)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_hand_on(reader, way))
                group.create_task(_hand_on(other, writer))
        except (asyncio.CancelledError, ExceptionGroup):
            pass
        finally:
            self._tasks.discard(task)
            for end in (writer, way):
                end.close()


async def _hand_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


def _cut(page: Page) -> Locator:
    return page.get_by_role("alert").filter(has_text="does not answer")


@asynccontextmanager
async def _told_in_time(page: Page) -> AsyncIterator[None]:
    """What happens meanwhile is on the page within five seconds."""
    began = monotonic()
    yield
    await expect(_cut(page)).to_be_visible(timeout=TOLD_WITHIN_S * 1000)
    assert monotonic() - began < TOLD_WITHIN_S
    connection = page.locator("[data-connection]").first
    await expect(connection).to_have_attribute("data-connection", "lost")


@pytest.mark.alone
async def test_it_is_exact_again_after_the_gateway_was_killed(
    browser: Browser, tmp_path: Path
) -> None:
    service = Service(tmp_path)
    async with seat(browser) as own:
        with service.started() as program:
            await service.hear(*SAMPLES)
            page = await own.open(f"{service.address}/")
            assert len(await until_exact(page, service.address)) == len(SAMPLES)
            await page.evaluate("window.mark = 1")
            with own.may_say("ERR_", "WebSocket"):
                async with _told_in_time(page):
                    program.kill()
        before = await shown(page)
        with service.started():
            await service.hear(*LATER)
            told = await until_exact(page, service.address)
            assert told != before
            await expect(_cut(page)).to_have_count(0)
            await service.hear(*LATEST)
            assert len(await until_exact(page, service.address)) == len(SAMPLES) + 1
        assert await page.evaluate("window.mark") == 1


@pytest.mark.alone
async def test_it_is_exact_again_after_its_socket_was_cut(browser: Browser, tmp_path: Path) -> None:
    async with at_home(browser, tmp_path) as (gateway, own):
        proxy = Proxy(gateway.http_port)
        direct = url(gateway).rstrip("/")
        async with proxy.running() as address:
            page = await own.open(f"{address}/")
            await until_exact(page, direct)
            await page.evaluate("window.mark = 1")
            with own.may_say("ERR_", "WebSocket"):
                async with _told_in_time(page):
                    await proxy.cut()
            await send(gateway, *LATER)
            proxy.mend()
            await until_exact(page, direct)
            await expect(_cut(page)).to_have_count(0)
            assert await page.evaluate("window.mark") == 1
            await send(gateway, *LATEST)
            assert len(await until_exact(page, direct)) == len(SAMPLES) + 1
            await page.close()


async def test_it_is_exact_again_after_the_laptop_slept(browser: Browser, tmp_path: Path) -> None:
    """Frozen with its network away, as a lid that is closed: nothing runs, no socket says so."""
    async with at_home(browser, tmp_path) as (gateway, own):
        page = await own.open(url(gateway))
        direct = url(gateway).rstrip("/")
        await until_exact(page, direct)
        tools = await own.browser.new_cdp_session(page)
        with own.may_say("ERR_", "WebSocket"):
            await own.browser.set_offline(offline=True)
            await tools.send("Page.setWebLifecycleState", {"state": "frozen"})
            await send(gateway, *LATER)
            await tools.send("Page.setWebLifecycleState", {"state": "active"})
            await expect(_cut(page)).to_be_visible(timeout=TOLD_WITHIN_S * 1000)
            await own.browser.set_offline(offline=False)
        await until_exact(page, direct)
        await expect(_cut(page)).to_have_count(0)
        await send(gateway, *LATEST)
        await until_exact(page, direct)
