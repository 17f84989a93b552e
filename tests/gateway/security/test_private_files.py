"""Files that nobody else may read: whatever the umask was, whoever writes them, old ones too."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from gateway.cli.command import main
from gateway.config.settings import SecuritySettings, TlsSettings
from gateway.errors import StorageError
from gateway.security.private_files import keep_private
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient
from tests.kit.gateways import mapping, running, settings, update_url, write_profile


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    """The least careful umask there is; what others need again afterwards."""
    before = os.umask(0)
    yield
    os.umask(before)


def _open_to_others(folder: Path) -> list[str]:
    everything = (folder, *folder.rglob("*"))
    return [
        f"{path}: {stat.S_IMODE(path.lstat().st_mode):o}"
        for path in everything
        if not path.is_symlink() and path.lstat().st_mode & 0o077
    ]


async def test_all_that_a_gateway_writes_is_its_users_alone(tmp_path: Path) -> None:
    """Store, journal and its segments, quarantine, whatever is behind a library's open()."""
    data = tmp_path / "data"
    config = settings(
        tmp_path,
        write_profile(tmp_path, [mapping("t", "t", selector="$.v", unit="unit:DEG_C")]),
        kind="disk",
    )
    async with running(config) as gateway:
        async with await RawClient.connect(gateway.mqtt_port, "device") as device:
            await device.publish("t", b'{"v": 21.5}')
            await device.publish("t", b"no number")
        async with httpx.AsyncClient() as client:
            insert = {"update": "INSERT DATA { <urn:s> <urn:p> <urn:o> }"}
            assert (await client.post(update_url(gateway), data=insert)).is_success
        gateway.stages.storage.journal.seal()
        gateway.scheduler.engine.store.flush()
        assert _open_to_others(data) == []
    assert _open_to_others(data) == []
    written = {path.relative_to(data).parts[0] for path in data.rglob("*") if path.is_file()}
    assert {"store", "journal", "quarantine.jsonl"} <= written


async def test_identities_keys_and_certificates_are_too(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path)).model_copy(
        update={"security": SecuritySettings(enabled=True), "tls": TlsSettings(mode="own")}
    )
    async with running(config):
        assert _open_to_others(tmp_path / "data") == []
    assert {path.name for path in (tmp_path / "data" / "tls").iterdir()} >= {"ca.crt", "ca.key"}


@pytest.mark.parametrize("command", [["client", "add", "lamp"], ["ca"], ["journal", "seal"]])
def test_commands_make_nothing_that_is_open(tmp_path: Path, command: list[str]) -> None:
    toml, data = tmp_path / "gateway.toml", tmp_path / "data"
    toml.write_text(f'[gateway]\nid = "x"\ndata_dir = "{data}"\n[tls]\nmode = "own"\n')
    assert main([*command, "--config", str(toml)]) == 0
    assert list(data.rglob("*")) != []
    assert _open_to_others(data) == []


def test_files_of_before_are_mended(tmp_path: Path) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    (data / "journal").mkdir(parents=True)
    (data / "journal" / "segment").write_bytes(b"")
    elsewhere.write_bytes(b"")
    (data / "link").symlink_to(elsewhere)
    for path, mode in ((data, 0o777), (data / "journal", 0o755), (elsewhere, 0o644)):
        path.chmod(mode)
    keep_private(data)
    assert _open_to_others(data) == []
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o644
    assert stat.S_IMODE((data / "journal" / "segment").stat().st_mode) == 0o600


def test_folder_that_cannot_be_closed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Root may do all: another user's folder is played by a chmod that fails."""
    (tmp_path / "file").write_bytes(b"")
    chmod = Path.chmod

    def refuse(path: Path, mode: int) -> None:
        if path.name == "file":
            raise PermissionError(1, "Operation not permitted")
        chmod(path, mode)

    monkeypatch.setattr(Path, "chmod", refuse)
    keep_private(tmp_path)
    assert [record.message for record in caplog.records] == ["file_not_private"]
    (tmp_path / "file").unlink()
    (tmp_path / "file").mkdir()
    os.chmod(tmp_path / "file", 0o777)
    with pytest.raises(StorageError, match="cannot keep"):
        keep_private(tmp_path / "file")
