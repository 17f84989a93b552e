"""A backup of a running gateway, restored by another one that then gives the same answers."""

import asyncio
import gzip
import io
import itertools
import json
import os
import shutil
import tarfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch
from urllib.parse import quote

import httpx
import pytest

from gateway.admin.keeping.archive import Member, packed
from gateway.admin.keeping.backup import DATA, HEAD, SettingsFiles
from gateway.admin.keeping.replacement import finish
from gateway.admin.keeping.restore import LAST_EPOCH, unpack
from gateway.app.gateway import Gateway
from gateway.appliance.upgrade.kept_data import require_all_since
from gateway.cli.command import main
from gateway.config.file import load_config
from gateway.errors import BadRequestError, TooLargeError, UpgradeError
from gateway.journal import Journal
from gateway.journal.names import raw_path, raw_start
from gateway.journal.record import Position
from gateway.security.policy import Capability
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    journal_records,
    mapping,
    publish,
    rows_of,
    update,
    write_profile,
)
from tests.kit.kills import is_killed

IN_1970 = 1_000.0
SMALL = ("federation/member.key", "security/mosquitto-login", "tls/ca.key")
ALL = "SELECT ?s ?p ?o { ?s ?p ?o FILTER(!isBlank(?s) && !isBlank(?o)) }"
VALUES = PREFIXES + "SELECT ?o ?v { ?o sosa:hasSimpleResult ?v }"
HEAD_OF_ONE = {
    "format": 1,
    "version": "0",
    "made_at": "2026-11-01T00:00:00+00:00",
    "gateway": "test",
    "base_iri": "urn:x:",
    "epoch": 1_793_000_000,
    "journal": "0123456789abcdef0123456789abcdef",
    "applied": "",
    "store": "1",
    "settings": "",
    "left_out": [],
}


def machine(folder: Path, *, security: bool = False) -> Path:
    """A folder with settings, and a profile beside them that they name; no ports are fixed."""
    folder.mkdir()
    write_profile(folder, [mapping("v", "box/+", selector="$.v")])
    file = folder / "gateway.toml"
    file.write_text(
        '[gateway]\nid = "house"\n[mqtt]\nport = 0\n[http]\nport = 0\n[websocket]\nport = 0\n'
        f'[jsap]\nprofiles = ["observations", "test.jsap"]\n# a remark\n'
        f"[security]\nenabled = {str(security).lower()}\n"
    )
    return file


def started(file: Path) -> Gateway:
    return Gateway(load_config(file, {}), settings=file)


async def command(*words: str) -> int:
    return await asyncio.to_thread(main, words)


async def restored(file: Path, backup: Path, *options: str) -> int:
    return await command("restore", str(backup), "--config", str(file), *options)


def let_go(gateway: Gateway) -> None:
    """Oxigraph gives up a folder when nothing refers to its store any more."""
    vars(gateway.scheduler.engine.store).clear()


async def made(folder: Path, *options: str) -> tuple[Path, list[list[str]]]:
    """A backup, and what the gateway answered when it was made."""
    file, backup = machine(folder / "one"), folder / "a.backup"
    for name in SMALL:
        (folder / "one/data" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "one/data" / name).write_text(name)
    async with started(file) as gateway:
        await publish(
            gateway.mqtt_port, [(f"box/{n}", json.dumps({"v": n}).encode()) for n in range(5)]
        )
        await update(gateway, "INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:b> 'c'@en } }")
        await update(gateway, "INSERT DATA { <urn:a> <urn:b> 7 }")
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        assert await command("backup", str(backup), "--url", url, *options) == 0
        rows = rows_of(gateway, ALL)
        await publish(gateway.mqtt_port, [("box/0", b'{"v": 99}')])
        let = gateway
    let_go(let)
    return backup, rows


async def test_another_machine_gives_the_same_answers(tmp_path: Path) -> None:
    backup, rows = await made(tmp_path)
    assert backup.stat().st_mode & 0o777 == 0o600
    (tmp_path / "two").mkdir()
    file = tmp_path / "two" / "gateway.toml"
    assert await restored(file, backup) == 0
    assert "# a remark" in file.read_text()
    new = tmp_path / "two/data/replacement/new"
    assert [(new / name).read_text() for name in SMALL] == list(SMALL)
    async with started(file) as gateway:
        assert rows_of(gateway, ALL) == rows
        assert gateway.stages.storage.identity.gateway == "house"
        await publish(gateway.mqtt_port, [("box/1", b'{"v": 50}')])
        assert ["50"] in [row[1:] for row in rows_of(gateway, VALUES)]
        let = gateway
    let_go(let)
    epochs = {record.position.epoch for record in journal_records(tmp_path / "two")}
    assert epochs.isdisjoint({r.position.epoch for r in journal_records(tmp_path / "one")})


async def test_on_the_same_machine_the_journal_goes_on_from_the_backup(tmp_path: Path) -> None:
    """Readings that were acknowledged since then are not lost."""
    backup, rows = await made(tmp_path)
    file = tmp_path / "one" / "gateway.toml"
    assert await restored(file, backup) == 0
    async with started(file) as gateway:
        now = rows_of(gateway, VALUES)
        let = gateway
    let_go(let)
    before = {row[2] for row in rows if "hasSimpleResult" in row[1]}
    assert {row[1] for row in now} == before - {"0"} | {"99"}


async def test_with_a_passphrase_nobody_else_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with patch("sys.stdin", io.StringIO("open sesame\n")):
        backup, rows = await made(tmp_path, "--encrypt")
    assert b"gateway.toml" not in backup.read_bytes()
    file = tmp_path / "two.toml"
    file.write_text('[gateway]\ndata_dir = "two"\n')
    assert await restored(file, backup) == 1
    assert "it is encrypted" in capsys.readouterr().err.replace("this backup is", "it is")
    for passphrase, status in (("wrong", 1), ("open sesame", 0)):
        with patch("sys.stdin", io.StringIO(f"{passphrase}\n")):
            assert await restored(file, backup, "--decrypt") == status
    async with started(file) as gateway:
        assert rows_of(gateway, ALL) == rows
        let = gateway
    let_go(let)


async def test_clients_and_their_tokens_come_along(tmp_path: Path) -> None:
    file, backup = machine(tmp_path / "one", security=True), tmp_path / "a.backup"
    owner, guest = tmp_path / "owner.json", tmp_path / "guest.json"
    config = ("--config", str(file))
    everything = [f"--{right}" for right in ("query", "subscribe", "update")]
    rights = [word for right in everything for word in (right, "all")]
    may = ["--may", *(each.value for each in Capability)]
    topics = ["--publish", "all", "--receive", "all"]
    assert (
        await command(
            "client", "add", "owner", *rights, *topics, *may, "--credentials", str(owner), *config
        )
        == 0
    )
    assert (
        await command(
            "client", "add", "guest", "--query", "all", "--credentials", str(guest), *config
        )
        == 0
    )
    async with started(file) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        ask = ("backup", str(backup), "--url", url)
        assert await command(*ask) == 1
        assert await command(*ask, "--credentials", str(guest)) == 1
        assert not backup.exists()
        assert await command(*ask, "--credentials", str(owner)) == 0
        let = gateway
    let_go(let)
    (tmp_path / "two").mkdir()
    other = tmp_path / "two" / "gateway.toml"
    assert await restored(other, backup) == 0
    async with started(other) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        access = ("--url", url, "--credentials", str(guest))
        assert await command("query", "ASK {}", *access) == 0
        let = gateway
    let_go(let)


async def test_readings_of_another_gateway_are_not_thrown_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backup, rows = await made(tmp_path)
    file = machine(tmp_path / "two")
    async with started(file) as gateway:
        await publish(gateway.mqtt_port, [("box/7", b'{"v": 1}')])
        assert await restored(file, backup) == 1
        assert "has readings that this backup is not of" in capsys.readouterr().err
        assert await restored(file, backup, "--replace") == 0
        assert rows_of(gateway, VALUES)[0][1] == "1"
        let = gateway
    let_go(let)
    async with started(file) as gateway:
        assert rows_of(gateway, ALL) == rows
        let = gateway
    let_go(let)
    assert len(journal_records(tmp_path / "two")) == 0
    assert list((tmp_path / "two/data/replaced/old/journal").glob("*.jsonl"))


async def test_another_file_beside_the_settings_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backup, _ = await made(tmp_path)
    file = machine(tmp_path / "two")
    mine = '{"namespaces": {}}'
    (tmp_path / "two" / "test.jsap").write_text(mine)
    assert await restored(file, backup) == 1
    assert "is another file than in the backup" in capsys.readouterr().err
    assert (tmp_path / "two" / "test.jsap").read_text() == mine
    assert await restored(file, backup, "--keep-settings") == 0


def archive(folder: Path, *members: Member, **head: object) -> Path:
    """A backup as somebody else has made it."""
    first = Member(HEAD, json.dumps({**HEAD_OF_ONE, **head}).encode())
    path = folder / "other.backup"
    path.write_bytes(b"".join(packed([first, *members])))
    return path


@pytest.mark.parametrize(
    "name",
    [
        "data/../../evil",
        "data/store/../../../evil",
        "/etc/evil",
        "data/journal/x",
        "x",
        "settings/",
        "settings//evil",
        "settings/a\nb",
    ],
)
def test_a_path_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    path = archive(tmp_path, Member(name, b"evil"))
    (tmp_path / "data").mkdir()
    with path.open("rb") as source, pytest.raises(BadRequestError):
        unpack(tmp_path / "data", source)
    assert not list(tmp_path.rglob("evil"))


@pytest.mark.parametrize("name", ["my house (1).ttl", "città/Brick 1.4.ttl", "a" * 200 + ".ttl"])
def test_files_come_back_whatever_people_call_them(tmp_path: Path, name: str) -> None:
    path = archive(tmp_path, Member(f"settings/{name}", b"content"))
    (tmp_path / "data").mkdir()
    with path.open("rb") as source:
        assert unpack(tmp_path / "data", source).settings == {name: b"content"}


def test_a_file_is_in_a_backup_once(tmp_path: Path) -> None:
    for second in ("saved.jsap", "saved.jsap/x"):
        path = archive(tmp_path, *(Member(f"{DATA}{n}", b"") for n in ("saved.jsap", second)))
        (tmp_path / "data").mkdir(exist_ok=True)
        with path.open("rb") as source, pytest.raises(BadRequestError, match="twice"):
            unpack(tmp_path / "data", source)


def raw(tmp_path: Path, *heads: tuple[bytes, bytes]) -> Path:
    """A backup with these members behind its first, by kind and content."""
    path, text = tmp_path / "raw.backup", json.dumps(HEAD_OF_ONE).encode()
    with gzip.open(path, "wb", 1) as file:
        for kind, content in ((tarfile.REGTYPE, text), *heads):
            head = tarfile.TarInfo(HEAD)
            head.type, head.size = kind, len(content)
            file.write(head.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512))
        file.write(bytes(1024))
    (tmp_path / "data").mkdir()
    return path


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_head_without_end_is_not_read_into_memory(tmp_path: Path, kind: bytes) -> None:
    path = raw(tmp_path, (kind, bytes(20_000_000)))
    tracemalloc.start()
    try:
        with path.open("rb") as source, pytest.raises(BadRequestError, match="longer than any"):
            unpack(tmp_path / "data", source)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_heads_of_heads_are_refused(tmp_path: Path) -> None:
    path = raw(tmp_path, *[(tarfile.XHDTYPE, b"11 path=xx\n")] * 3000)
    with path.open("rb") as source, pytest.raises(BadRequestError, match="is no backup"):
        unpack(tmp_path / "data", source)


def test_settings_are_bounded_in_all(tmp_path: Path) -> None:
    path = archive(tmp_path, *(Member(f"settings/{n}", bytes(1000)) for n in range(5)))
    (tmp_path / "data").mkdir()
    with (
        path.open("rb") as source,
        patch("gateway.admin.keeping.restore._SETTINGS_BYTES", 4500),
        pytest.raises(TooLargeError, match="settings"),
    ):
        unpack(tmp_path / "data", source)


@pytest.mark.parametrize(
    "head",
    [
        {"format": float("inf")},
        {"epoch": float("inf")},
        {"made_at": "0001-01-01T00:00:00"},
        {"epoch": 1_793_000_000_000},
    ],
)
def test_a_head_with_impossible_numbers_is_refused(tmp_path: Path, head: dict[str, object]) -> None:
    path = archive(tmp_path, **head)
    (tmp_path / "data").mkdir()
    with path.open("rb") as source, pytest.raises(BadRequestError, match="cannot be read"):
        unpack(tmp_path / "data", source)


def test_an_epoch_of_more_digits_than_files_have_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As milliseconds are: nothing that was written in it would be read at the next start."""
    backup, config = archive(tmp_path), tmp_path / "gateway.toml"
    for epoch, code in ((1_793_000_000_000, 1), (LAST_EPOCH + 1, 1), (LAST_EPOCH, 0)):
        words = ("restore", str(backup), "--config", str(config), "--epoch", str(epoch))
        assert main(words) == code
    assert "is beyond 99999999999" in capsys.readouterr().err
    finish(tmp_path / "data")
    with Journal(tmp_path / "data/journal") as journal:
        start = Position(journal.epoch, 1)
    assert journal.epoch >= LAST_EPOCH
    assert raw_start(raw_path(tmp_path, start)) == start


@pytest.mark.parametrize("name", [".ssh/authorized_keys", "other.jsap"])
def test_what_no_settings_name_is_not_written_beside_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Given as root in a home, it would be whatever reads that name."""
    text = b'[gateway]\nid = "new"\n[jsap]\nprofiles = ["observations", "new.jsap"]\n'
    members = (("gateway.toml", text), ("new.jsap", b"{}"), (name, b"evil"))
    backup = archive(
        tmp_path, *(Member(f"settings/{n}", t) for n, t in members), settings="gateway.toml"
    )
    assert main(["restore", str(backup), "--config", str(tmp_path / "gateway.toml")]) == 1
    assert f"settings/{name} is no file" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if path.name != "data"] == [backup.name]


def test_a_named_file_is_kept_by_its_name_though_it_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "gateway.toml").write_text("")
    (tmp_path / "today.ttl").write_text("content")
    (tmp_path / "house.ttl").symlink_to("today.ttl")
    files = SettingsFiles(tmp_path / "gateway.toml", (tmp_path / "house.ttl",) * 2)
    assert [name for name, _ in files.members()] == ["settings/gateway.toml", "settings/house.ttl"]


def test_a_link_is_no_file_of_a_backup(tmp_path: Path) -> None:
    path = tmp_path / "links.backup"
    with tarfile.open(path, "w:gz") as tar:
        head = tarfile.TarInfo(HEAD)
        text = json.dumps(HEAD_OF_ONE).encode()
        head.size = len(text)
        tar.addfile(head, io.BytesIO(text))
        link = tarfile.TarInfo(f"{DATA}store/1")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        tar.addfile(link)
    (tmp_path / "data").mkdir()
    with path.open("rb") as source, pytest.raises(BadRequestError, match="is no file"):
        unpack(tmp_path / "data", source)


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda content: content[:-20], BadRequestError),
        (lambda content: content[:200] + b"\0" + content[201:], BadRequestError),
        (lambda content: b"PK" + content, BadRequestError),
        (lambda content: b"", BadRequestError),
    ],
)
def test_what_is_damaged_is_refused(
    tmp_path: Path, spoil: Callable[[bytes], bytes], error: type[Exception]
) -> None:
    path = archive(tmp_path, Member(f"{DATA}saved.jsap", bytes(range(256)) * 10))
    path.write_bytes(spoil(path.read_bytes()))
    (tmp_path / "data").mkdir()
    with path.open("rb") as source, pytest.raises(error):
        unpack(tmp_path / "data", source)


def test_what_a_newer_version_keeps_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path, store="2")
    (tmp_path / "data").mkdir()
    with path.open("rb") as source, pytest.raises(BadRequestError, match="keeps in other forms"):
        unpack(tmp_path / "data", source)


def test_a_store_that_does_not_open_is_refused(tmp_path: Path) -> None:
    members = (Member(f"{DATA}store/current", b"1"), Member(f"{DATA}store/1/CURRENT", b"nothing"))
    path = archive(tmp_path, *members)
    (tmp_path / "data").mkdir()
    with path.open("rb") as source, pytest.raises(BadRequestError, match="does not open"):
        unpack(tmp_path / "data", source)


def test_what_the_disk_has_no_room_for_is_refused_first(tmp_path: Path) -> None:
    path = archive(tmp_path, Member(f"{DATA}saved.jsap", b"{}"))
    (tmp_path / "data").mkdir()
    with (
        path.open("rb") as source,
        patch("gateway.admin.keeping.restore._LEFT_FREE", 1 << 60),
        pytest.raises(TooLargeError, match="no room"),
    ):
        unpack(tmp_path / "data", source)


class _Clock:
    """In the place of the module `time`: a clock that is set while somebody waits for that."""

    strftime = staticmethod(time.strftime)
    gmtime = staticmethod(time.gmtime)

    def __init__(self) -> None:
        self.now = IN_1970
        self.slept = 0

    def time(self) -> float:
        return self.now

    def sleep(self, _seconds: float) -> None:
        self.slept += 1
        self.now += 1_900_000_000.0


async def test_where_the_clock_is_not_set_a_restore_waits(tmp_path: Path) -> None:
    """An epoch in 1970 could be one of before the clock of the other machine was set."""
    backup, _ = await made(tmp_path)
    file = tmp_path / "two.toml"
    file.write_text('[gateway]\ndata_dir = "two"\n')
    clock = _Clock()
    with patch("gateway.cli.programs.backup.time", clock):
        assert await restored(file, backup) == 0
    assert clock.slept == 1
    with patch("gateway.journal.spool.time.time", lambda: IN_1970):
        async with started(file) as gateway:
            assert gateway.stages.storage.journal.epoch == IN_1970 + 1_900_000_001
            let = gateway
    let_go(let)


async def test_in_1970_somebody_may_say_the_epoch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backup, _ = await made(tmp_path)
    file = tmp_path / "two.toml"
    file.write_text('[gateway]\ndata_dir = "two"\n')
    with patch("gateway.cli.programs.backup.time.time", lambda: IN_1970):
        assert await restored(file, backup, "--epoch", "5") == 1
        assert "epoch 5 was used" in capsys.readouterr().err
        assert await restored(file, backup, "--epoch", "3000000000") == 0
    with patch("gateway.journal.spool.time.time", lambda: IN_1970):
        async with started(file) as gateway:
            assert gateway.stages.storage.journal.epoch == 3_000_000_000
            let = gateway
    let_go(let)


async def test_a_backup_that_is_cut_off_leaves_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, backup = machine(tmp_path / "one"), tmp_path / "a.backup"

    def cut(*_: object) -> Iterator[bytes]:
        yield b"the beginning"
        raise OSError(5, "Input/output error")

    async with started(file) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        with patch("gateway.admin.keeping.backup.packed", cut):
            assert await command("backup", str(backup), "--url", url) == 1
        assert not list(tmp_path.glob("*backup*"))
        assert await command("backup", str(backup), "--url", url) == 0
        assert await command("backup", str(backup), "--url", url) == 1
        assert "is there already" in capsys.readouterr().err
        let = gateway
    let_go(let)


async def test_one_is_made_at_a_time(tmp_path: Path) -> None:
    file = machine(tmp_path / "one")
    async with started(file) as gateway, httpx.AsyncClient() as client:
        url = f"http://{LOOPBACK}:{gateway.http_port}/backup"
        async with client.stream("POST", url, json={}) as first:
            assert first.status_code == 200
            assert (await client.post(url, json={})).status_code in {200, 409}
            await first.aread()
        assert (await client.post(url, json={})).status_code == 200
        assert not (tmp_path / "one/data/backup").exists()
        let = gateway
    let_go(let)


async def test_a_backup_comes_back_by_http(tmp_path: Path) -> None:
    with patch("sys.stdin", io.StringIO("öffne dich\n")):
        backup, rows = await made(tmp_path, "--encrypt")
    file, anew = machine(tmp_path / "two"), asyncio.Event()
    gateway = Gateway(load_config(file, {}), settings=file, start_anew=anew.set)
    async with gateway, httpx.AsyncClient() as client:
        url = f"http://{LOOPBACK}:{gateway.http_port}/restore"
        answer = await client.post(url, content=b"no backup")
        assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")
        answer = await client.post(url, content=backup.read_bytes())
        assert answer.status_code == 400
        assert "is encrypted" in answer.json()["error_description"]
        headers = {"Passphrase": quote("öffne dich")}
        with patch("gateway.gates.admin.keeping.time.time", lambda: IN_1970):
            answer = await client.post(url, content=backup.read_bytes(), headers=headers)
        assert answer.status_code == 409
        assert "clock" in answer.json()["error_description"]
        assert not anew.is_set()
        answer = await client.post(url, content=backup.read_bytes(), headers=headers)
        assert answer.status_code == 200
        assert answer.json()["gateway"] == "house"
        assert answer.json()["starts_anew"]
        assert anew.is_set()
    let_go(gateway)
    assert not list((tmp_path / "two/data").glob("*.backup"))
    async with started(file) as gateway:
        assert rows_of(gateway, ALL) == rows
        let = gateway
    let_go(let)


async def test_a_restore_by_http_needs_room_and_patience(tmp_path: Path) -> None:
    file = machine(tmp_path / "one")
    (tmp_path / "one/data").mkdir()
    (tmp_path / "one/data/coming.backup").write_text("what came before the power went")
    async with started(file) as gateway, httpx.AsyncClient() as client:
        assert not list((tmp_path / "one/data").glob("*.backup"))
        url = f"http://{LOOPBACK}:{gateway.http_port}/restore"
        with patch("gateway.gates.admin.keeping._LEFT_FREE", 1 << 60):
            answer = await client.post(url, content=b"a backup")
        assert answer.status_code == 413
        answer = await client.post(url, params={"epoch": "x"}, content=b"a backup")
        assert answer.status_code == 400
        assert not list((tmp_path / "one/data").glob("*.backup"))
        let = gateway
    let_go(let)


def test_a_restore_ends_the_way_back_to_data_from_before_an_upgrade(tmp_path: Path) -> None:
    """A rollback later would put back a life that was left, with clients that were revoked."""
    backup, data = archive(tmp_path, Member(f"{DATA}saved.jsap", b"new")), tmp_path / "data"
    (data / "kept/1.0").mkdir(parents=True)
    (data / "kept/1.0/kept.json").write_text('{"applied": ""}')
    assert main(["restore", str(backup), "--config", str(tmp_path / "gateway.toml")]) == 0
    finish(data)
    assert (data / "saved.jsap").read_text() == "new"
    with pytest.raises(UpgradeError, match="none of its own is kept"):
        require_all_since(data, "1.0")


def test_a_restore_that_is_killed_anywhere_leaves_the_old_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole command, with settings and a file that they name; then a start finishes it."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # a kill loses nothing that was written
    text = b'[gateway]\nid = "new"\n[jsap]\nprofiles = ["observations", "new.jsap"]\n'
    backup = archive(
        tmp_path,
        Member("settings/gateway.toml", text),
        Member("settings/new.jsap", b"{}"),
        Member(f"{DATA}saved.jsap", b"new"),
        Member(f"{DATA}tls/ca.crt", b"new"),
        settings="gateway.toml",
    )
    states: list[bool] = []
    for number in itertools.count():
        folder = tmp_path / str(number)
        (folder / "data/tls").mkdir(parents=True)
        (folder / "gateway.toml").write_text('[gateway]\nid = "old"\n')
        (folder / "data/saved.jsap").write_text("old")
        (folder / "data/tls/ca.crt").write_text("old")
        words = ["restore", str(backup), "--config", str(folder / "gateway.toml")]
        was_killed = is_killed(number, lambda words=words: main(words))  # type: ignore[misc]
        finish(folder / "data")
        found = {(folder / "data" / name).read_text() for name in ("saved.jsap", "tls/ca.crt")}
        is_new = 'id = "new"' in (folder / "gateway.toml").read_text()
        assert found == {"new" if is_new else "old"}
        assert not is_new or (folder / "new.jsap").read_text() == "{}"
        states.append(is_new)
        shutil.rmtree(folder)
        if not was_killed:
            break
    assert states == sorted(states)
    assert (states[0], states[-1]) == (False, True)
    assert len(states) > 15
