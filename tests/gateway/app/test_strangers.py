"""What strangers do at any port is counted in a line a minute, and never told with a trace."""

import asyncio
import logging
import os
import socket
import ssl
import struct
import sys
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from gateway.runtime.strangers import Strangers
from tests.kit.gateways import (
    LOOPBACK,
    Program,
    free_port,
    running,
    settings,
    write_profile,
)

RESET = struct.pack("ii", 1, 0)
CLIENT_HELLO = bytes.fromhex("160301020001000001fc0303") + os.urandom(100)
UPGRADE = (
    b"GET /subscribe HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n"
)
KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
REFUSED = (
    (UPGRADE % KEY).replace(b"Connection:", b"Origin: http://evil.example\r\nConnection:"),
    (UPGRADE % KEY).replace(b"/subscribe", b"/nowhere"),
)
CONNECT = bytes.fromhex("101000044d5154540402003c000464657631")
"""MQTT 3.1.1 CONNECT of the client dev1."""

OPENINGS: list[bytes | tuple[bytes, ...]] = [
    b"",
    b"\0" * 64,
    b"\xff" * 64,
    os.urandom(4096),
    CLIENT_HELLO,
    b"SSH-2.0-OpenSSH_9.2\r\n",
    b"HELO there\r\n\r\n",
    b"GET / HTTP/1.1\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /query HTTP/1.1\r\nHost: localhost\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
    b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf",
    b"POST /update HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /update HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGARBAGE\x00\r\n\r\n",
    b"GET /subscribe?query=ASK%7B%7D HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /%ff%fe HTTP/1.1\r\nHost: \xff\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    UPGRADE % b"no key",
    *REFUSED,
    (UPGRADE % KEY, b"\xff" * 20),
    (UPGRADE % KEY, b"\x81\x82\0\0\0\0\xff\xfe"),
    (UPGRADE % KEY, b"\x81\xff" + b"\x7f" + b"\xff" * 7 + b"\0" * 4),
    (UPGRADE % KEY, b"\x88\x81\0\0\0\0\x01"),
    (UPGRADE % KEY, b"\x01\x02ab"),
    b"\x10\xff\xff\xff\xff\x7f",
    b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x3c\x00\x00",
    b"\x10\x0c\x00\x04MQTT\x09\x02\x00\x3c\x00\x00",
    b"\x30\x03\x00\x01a",
    CONNECT,
    (CONNECT, b"\xf0\x00"),
    (CONNECT, b"\x30\xff\xff\xff\x7f"),
    (CONNECT, b"\x82\x03\x00\x00\x00"),
    (CONNECT, b"\x32\x05\x00\x01#\x00\x01"),
]


def _reset(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    if connection is None:  # the gateway was first
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()


async def _attack(
    port: int, opening: bytes | tuple[bytes, ...], tls: ssl.SSLContext | None, *, abort: bool
) -> None:
    """Send each part and wait for what is answered; go by FIN or by RST."""
    with suppress(OSError, asyncio.TimeoutError):
        reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=tls)
        for part in (opening,) if isinstance(opening, bytes) else opening:
            writer.write(part)
            with suppress(OSError, asyncio.TimeoutError):
                async with asyncio.timeout(0.2):
                    await reader.read(1000)
        if abort:
            _reset(writer)
        else:
            writer.close()
            await writer.wait_closed()


def _contexts(ca: Path | None) -> list[ssl.SSLContext | None]:
    """No TLS at all; TLS; a client that trusts nobody here; one of old ciphers alone."""
    if ca is None:
        return [None]
    taken = ssl.create_default_context(cafile=ca)
    taken.check_hostname = False
    old = ssl.create_default_context(cafile=ca)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    old.set_ciphers("AES128-SHA")
    return [None, taken, ssl.create_default_context(), old]


async def _attack_all(ports: list[int], contexts: list[ssl.SSLContext | None]) -> None:
    for port in ports:
        for context in contexts:
            attacks = [
                _attack(port, opening, context, abort=bool(number % 2))
                for number, opening in enumerate((*OPENINGS, *OPENINGS[1:]))
            ]
            await asyncio.gather(*attacks)


def _check(lines: list[str]) -> None:
    """Each event of strangers at most once, and nothing else."""
    events = [line.split()[3] for line in lines]
    known = {"strangers", "broker_connection_refused", "broker_connection_broken"}
    assert set(events) <= known, lines
    assert len(events) == len(set(events)), lines


@pytest.mark.parametrize("is_secure", [False, True], ids=["plain", "tls"])
async def test_garbage_at_every_port_is_a_line_and_no_trace(
    tmp_path: Path, is_secure: bool
) -> None:
    """The program itself, in its own event loop and with its own log."""
    http, websocket, mqtt, mqtt_websocket = ports = [free_port() for _ in range(4)]
    names = ("http", "websocket", "mqtt", "mqtt_websocket")
    secure = "".join(f"{name}_port = {port}\n" for name, port in zip(names, ports, strict=True))
    toml = tmp_path / "gateway.toml"
    toml.write_text(
        f'[gateway]\nid = "x"\n[store]\nkind = "memory"\n[http]\nport = {http}\n'
        f"[websocket]\nport = {websocket}\n"
        f"[mqtt]\nport = {mqtt}\nwebsocket = true\nwebsocket_port = {mqtt_websocket}\n"
        + (f'[tls]\nmode = "own"\n{secure}' if is_secure else "")
    )
    ca = tmp_path / "data" / "tls" / "ca.crt"
    command = (sys.executable, "-m", "gateway", "run", "--config", str(toml))
    with Program(*command) as program:
        await asyncio.to_thread(program.wait_for, " serving ")
        await _attack_all(ports, _contexts(ca if is_secure else None))
        scheme = "https" if is_secure else "http"
        verify = ssl.create_default_context(cafile=ca if is_secure else None)
        async with httpx.AsyncClient(verify=verify) as client:
            health = await client.get(f"{scheme}://localhost:{http}/health")
            metrics = (await client.get(f"{scheme}://localhost:{http}/metrics")).text
        assert health.json()["status"] == "ok"
        assert 'sosa_gateway_strangers_total{did="http"}' in metrics
        assert 'sosa_gateway_strangers_total{did="websocket"}' in metrics
        assert ('sosa_gateway_strangers_total{did="tls"}' in metrics) is is_secure
        assert program.terminate() == 0
        _check(program.rest_until(" stopping"))


async def test_garbage_is_no_trace_in_another_event_loop_either(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = settings(tmp_path, write_profile(tmp_path))
    async with running(config) as gateway:
        ports = [gateway.http_port, gateway.websocket_port, gateway.mqtt_port]
        caplog.set_level(logging.INFO)
        caplog.clear()
        await _attack_all(ports, [None])
        told = [each for each in caplog.records if each.levelno >= _level(each.name)]
        events = Counter(record.message for record in told)
        assert not [record for record in told if record.exc_info]
    known = {"strangers", "broker_connection_refused", "broker_connection_broken"}
    assert set(events) <= known
    assert max(events.values(), default=0) <= 1


def _level(logger: str) -> int:
    """From which on it is heard (gateway/app/logs.py)."""
    return logging.INFO if logger.startswith("gateway.") else logging.WARNING


def test_line_tells_all_since_the_last_one(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    strangers = Strangers(each_s=0.05)
    strangers.saw("http", ("192.0.2.1", 5))
    for _ in range(3):
        strangers.saw("tls")
    strangers.saw("http")
    assert len(caplog.records) == 1
    threading.Event().wait(0.06)
    strangers.saw("http")
    first, second = caplog.records
    assert vars(first)["last"] == ("192.0.2.1", 5)
    assert (vars(second)["http"], vars(second)["tls"]) == (2, 3)
    assert strangers.counts == {"http": 3, "tls": 3}
