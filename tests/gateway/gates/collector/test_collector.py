"""The collector over real sockets: what it stores, whom it refuses, what it answers again."""

import asyncio
import gzip
import hashlib
import http.client
import json
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from gateway.errors import ConfigurationError, InvalidTokenError
from gateway.gates.collector.collector import CollectorGate, CollectorLimits
from gateway.gates.collector.token_file import TokenFile
from gateway.gates.http.operations import application, serve
from gateway.journal.sealing import Sealed
from gateway.shipping import Shipper, open_zone
from tests.gateway.shipping.journals import landed, sealed_journal

TOKEN = "0123456789abcdef-kitchen"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@dataclass
class Landing:
    """A collector that runs."""

    gate: CollectorGate
    root: Path
    tokens: Path
    url: str


@asynccontextmanager
async def collecting(folder: Path, limits: CollectorLimits | None = None) -> AsyncIterator[Landing]:
    tokens = folder / "tokens"
    tokens.write_text(f"# gateways\nkitchen {TOKEN}\ngarage 0123456789abcdef-garage\n")
    gate = CollectorGate(folder / "zone", TokenFile(tokens), limits)
    async with serve(application(gate.routes()), "127.0.0.1", 0) as address:
        yield Landing(gate, folder / "zone", tokens, f"http://127.0.0.1:{address.port}")


def sealed(folder: Path, segments: int = 1) -> list[tuple[Sealed, bytes]]:
    with sealed_journal(folder / "journal", segments) as journal:
        return [
            (item, (journal.folder / str(item.name)).read_bytes())
            for item in journal.manifest.sealed()
        ]


async def put(
    landing: Landing, name: object, data: bytes, headers: dict[str, str] | None = None
) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        place = f"{landing.url}/segments/{name}"
        return await client.put(
            place, content=data, headers=HEADERS if headers is None else headers
        )


async def test_a_gateway_ships_to_a_collector_and_keeps_its_token_in_a_file(
    tmp_path: Path,
) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    async with collecting(tmp_path) as landing:
        with sealed_journal(tmp_path / "journal", segments=3) as journal:
            zone = open_zone(landing.url, {}, str(tmp_path / "token"))
            shipper = Shipper(journal.folder, journal.manifest, zone, landing.url)
            await asyncio.to_thread(shipper.ship)
            assert shipper.statistics.failing == ""
            assert journal.manifest.waiting == 0
            first, second, _ = journal.manifest.sealed()
            journal.manifest.drop(second)
            await asyncio.to_thread(shipper.ship)
            epoch = journal.epoch
    assert sorted(landed(landing.root)) == [(epoch, n) for n in range(1, 31)]
    assert len(list(landing.root.rglob("*.gap.json"))) == 1
    assert landing.gate.stored == 4
    assert (landing.root / "kitchen" / "2026-03-02" / str(first.name)).exists()
    assert list((landing.root / ".incoming").iterdir()) == []


async def test_sending_again_changes_nothing(tmp_path: Path) -> None:
    ((item, data),) = sealed(tmp_path)
    async with collecting(tmp_path) as landing:
        first, second = await put(landing, item.name, data), await put(landing, item.name, data)
        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json() == second.json()
        assert first.json()["sha256"] == item.sha256
        (path,) = landing.root.rglob("*.jsonl.gz")
        path.write_bytes(b"the disk has gone bad")
        assert (await put(landing, item.name, data)).status_code == 201
        assert path.read_bytes() == data
        async with httpx.AsyncClient(headers=HEADERS) as client:
            there = await client.get(f"{landing.url}/segments/{item.name}")
            assert there.json()["sha256"] == item.sha256


async def test_what_is_not_what_its_name_says_is_refused_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    (item, data), (other, other_data) = sealed(tmp_path, 2)
    digest = hashlib.sha256(other_data).hexdigest()
    forged = str(item.name).replace(item.name.sha12, digest[:12])
    garbage = b"no gzip"
    named = str(item.name).replace(item.name.sha12, hashlib.sha256(garbage).hexdigest()[:12])
    told = {**HEADERS, "Content-Digest": "sha-256=:" + "A" * 43 + "=:"}
    async with collecting(tmp_path) as landing:
        for name, body, headers in (
            (item.name, data[:-1], HEADERS),
            (item.name, other_data, HEADERS),
            (forged, other_data, HEADERS),
            (named, garbage, HEADERS),
            (item.name, data, told),
            (item.name, b"", HEADERS),
        ):
            answer = await put(landing, name, body, headers)
            assert (answer.status_code, answer.json()["error"]) == (422, "checksum")
        assert [path for path in landing.root.rglob("*") if path.is_file()] == []
        assert (await put(landing, other.name, other_data)).status_code == 201


def _forged(item: Sealed, header: object, line: object, filling: bytes = b"") -> tuple[str, bytes]:
    """A segment of other contents under a name that agrees with its bytes."""
    texts = [
        each if isinstance(each, bytes) else json.dumps(each).encode() for each in (header, line)
    ]
    data = gzip.compress(b"\n".join((*texts, filling)))
    digest = hashlib.sha256(data).hexdigest()
    return str(item.name).replace(item.name.sha12, digest[:12]), data


@pytest.mark.parametrize(
    "time",
    [1e300, -1e300, 10**18, -(10**18), 10**30, "nan", None, [], b"1e999", b"NaN", b"9" * 5000],
)
async def test_a_time_that_is_none_is_the_fault_of_who_sends_it(
    tmp_path: Path, time: object
) -> None:
    ((item, _),) = sealed(tmp_path)
    header = {"gateway": "kitchen", "epoch": item.name.start.epoch, "first": 1}
    line = b'{"q": 1, "i": %s}' % (time if isinstance(time, bytes) else json.dumps(time).encode())
    async with collecting(tmp_path) as landing:
        answer = await put(landing, *_forged(item, header, line))
        assert (answer.status_code, answer.json()["error"]) == (422, "checksum")


@pytest.mark.parametrize("where", ["header", "line", "gap"])
async def test_nested_json_is_the_fault_of_who_sends_it(tmp_path: Path, where: str) -> None:
    ((item, _),) = sealed(tmp_path)
    deep, header = b"[" * 60_000, {"gateway": "kitchen", "epoch": 1, "first": 1}
    name, data = _forged(item, deep if where == "header" else header, deep)
    if where == "gap":
        ending, digest = ".gap.json", hashlib.sha256(deep).hexdigest()
        name, data = str(item.name).replace(item.name.sha12, digest[:12]), deep
        name = name.replace(".jsonl.gz", ending)
    async with collecting(tmp_path) as landing:
        answer = await put(landing, name, data)
        assert (answer.status_code, answer.json()["error"]) == (422, "checksum")


async def test_a_segment_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    ((item, honest),) = sealed(tmp_path)
    header = {"gateway": "kitchen", "epoch": item.name.start.epoch, "first": 1}
    bomb = _forged(item, header, {"q": 1, "i": 1_770_000_000_000_000}, bytes(200_000))
    torn = _forged(item, header, {"q": 1, "i": 1_770_000_000_000_000}, os.urandom(200_000))
    async with collecting(tmp_path, CollectorLimits(segment_bytes=10_000)) as landing:
        assert len(bomb[1]) < 1_000
        assert (await put(landing, *bomb)).status_code == 413
        assert (await put(landing, item.name, honest)).status_code == 201
    async with collecting(tmp_path) as landing:
        data = torn[1][:100_000]
        digest = hashlib.sha256(data).hexdigest()[:12]
        name = str(item.name).replace(item.name.sha12, digest)
        assert (await put(landing, name, data)).status_code == 422
        assert list((landing.root / ".incoming").iterdir()) == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Basic eDp5"}, 401),
        ({"Authorization": "Bearer 0123456789abcdef-nobody"}, 401),
        ({"Authorization": "Bearer 0123456789abcdef-garage"}, 403),
    ],
)
async def test_only_the_gateway_itself_sends_its_segments(
    tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    ((item, data),) = sealed(tmp_path)
    async with collecting(tmp_path) as landing:
        assert (await put(landing, item.name, data, headers)).status_code == status
        async with httpx.AsyncClient(headers=headers) as client:
            answer = await client.get(f"{landing.url}/segments/{item.name}")
        assert answer.status_code == status
        assert not list(landing.root.glob("kitchen"))


@pytest.mark.parametrize(
    "name",
    [
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/x.jsonl.gz",
        "kitchen-00000001-000000000001-1-0123456789ab.jsonl.gz%0a",
        "kitchen-00000001-000000000001-1-0123456789ab.jsonl.gz%00",
        "..-00000001-000000000001-1-0123456789ab.jsonl.gz",
        "x",
    ],
)
async def test_a_name_that_is_none_leads_nowhere(tmp_path: Path, name: str) -> None:
    async with collecting(tmp_path) as landing:
        port = int(landing.url.rpartition(":")[2])

        def send() -> int:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("PUT", f"/segments/{name}", b"x", HEADERS)
            status = connection.getresponse().status
            connection.close()
            return status

        assert await asyncio.to_thread(send) in {400, 403, 404}
        assert [path for path in landing.root.rglob("*") if path.is_file()] == []


async def test_sizes_are_limited_whatever_the_head_says(tmp_path: Path) -> None:
    ((item, data),) = sealed(tmp_path)

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(10):
            yield data

    async with collecting(tmp_path, CollectorLimits(segment_bytes=len(data))) as landing:
        assert (await put(landing, item.name, data + b"x")).status_code == 413
        async with httpx.AsyncClient(headers=HEADERS) as client:
            place = f"{landing.url}/segments/{item.name}"
            answer = await client.put(place, content=chunks())
        assert answer.status_code == 413
        assert (await put(landing, item.name, data)).status_code == 201
    assert list((landing.root / ".incoming").iterdir()) == []


async def test_a_sender_that_falls_silent_or_goes_leaves_nothing(tmp_path: Path) -> None:
    ((item, data),) = sealed(tmp_path)
    head = (
        f"PUT /segments/{item.name} HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {TOKEN}\r\nContent-Length: {len(data)}\r\n\r\n"
    ).encode()
    async with collecting(tmp_path, CollectorLimits(silence_s=0.2)) as landing:
        port = int(landing.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), 10) as peer:
            peer.sendall(head + data[:20])
            assert b" 408 " in await asyncio.to_thread(peer.recv, 4096)
        with socket.create_connection(("127.0.0.1", port), 10) as peer:
            peer.sendall(head + data[:20])
        async with asyncio.timeout(60):
            while list((landing.root / ".incoming").iterdir()):
                await asyncio.sleep(0.01)
        assert (await put(landing, item.name, data)).status_code == 201


async def test_a_full_disk_is_answered_and_not_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((item, data),) = sealed(tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    async with collecting(tmp_path) as landing:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            answer = await put(landing, item.name, data)
        assert (answer.status_code, answer.json()["error"]) == (503, "storage")
        assert [path for path in landing.root.rglob("*") if path.is_file()] == []


def test_the_token_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("kitchen 0123456789abcdef\n")
    guard = TokenFile(file)
    assert guard.principal("Bearer 0123456789abcdef").identity == "kitchen"
    file.write_text("kitchen fedcba9876543210-new\n")
    with pytest.raises(InvalidTokenError):
        guard.principal("Bearer 0123456789abcdef")
    assert guard.principal("bearer fedcba9876543210-new").identity == "kitchen"


@pytest.mark.parametrize("text", ["kitchen\n", "kitchen short\n", "a b c\n"])
def test_a_token_file_that_is_wrong_says_where(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokens").write_text(f"\n{text}")
    with pytest.raises(ConfigurationError, match="tokens:2"):
        TokenFile(tmp_path / "tokens")
