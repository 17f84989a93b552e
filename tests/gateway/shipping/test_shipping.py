"""Shipping: every kind of landing zone, ones that lie or are away, what is delivered twice."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncssh
import pytest
from moto.server import ThreadedMotoServer

from gateway.errors import ConfigurationError, ShippingError
from gateway.journal import Journal
from gateway.shipping import LandingZone, Parcel, Shipper, open_zone, shown
from gateway.shipping.folder import Folder
from gateway.shipping.upload import Collector
from tests.gateway.shipping.journals import landed, sealed_journal
from tests.kit.gateways import wait_until


def shipper_to(journal: Journal, zone: LandingZone, retry_s: float = 0.001) -> Shipper:
    return Shipper(
        journal.folder, journal.manifest, zone, "there", retry_s=retry_s, retry_most_s=0.002
    )


class Weather:
    """A zone in front of another one that fails as long as `storm` says so."""

    def __init__(self, zone: LandingZone, storm: int) -> None:
        self.storm = storm
        self._zone = zone

    def deliver(self, parcel: Parcel) -> None:
        if self.storm:
            self.storm -= 1
            raise ShippingError("no route to host")
        self._zone.deliver(parcel)

    def close(self) -> None:
        self._zone.close()


def test_everything_sealed_reaches_a_folder_and_only_then_may_go(tmp_path: Path) -> None:
    zone = tmp_path / "zone"
    zone.mkdir()
    with sealed_journal(tmp_path / "journal", segments=3) as journal:
        shipper = shipper_to(journal, open_zone(str(zone), {}))
        shipper.ship()
        assert journal.manifest.waiting == 0
        assert shipper.statistics.delivered == 3
        epoch = journal.epoch
    assert sorted(landed(zone)) == [(epoch, n) for n in range(1, 31)]
    days = {path.parent.relative_to(zone) for path in zone.rglob("*.gz")}
    assert days == {Path("kitchen/2026-03-02")}
    with Journal(tmp_path / "journal") as journal:
        assert journal.manifest.waiting == 0


def test_days_of_outage_cost_nothing_but_time(tmp_path: Path) -> None:
    zone = tmp_path / "zone"
    zone.mkdir()
    with sealed_journal(tmp_path / "journal", segments=4) as journal:
        weather = Weather(Folder(zone), storm=50)
        with shipper_to(journal, weather) as shipper:
            wait_until(lambda: journal.manifest.waiting == 0)
        assert shipper.statistics.failures == 50
        assert shipper.statistics.failing == ""
    assert len(landed(zone)) == 40


def test_pauses_grow_with_failures_up_to_a_bound_and_are_random(tmp_path: Path) -> None:
    with sealed_journal(tmp_path, segments=1) as journal:
        zone = Weather(Folder(tmp_path), storm=10_000)
        shipper = Shipper(tmp_path, journal.manifest, zone, "x", chance=lambda: 1.0)
        pauses = []
        for _ in range(12):
            shipper._tries.clear()
            pauses.append(shipper.ship())
    assert pauses[:4] == [2.0, 4.0, 8.0, 16.0]
    assert pauses[-1] == 600.0
    jittered = Shipper(tmp_path, journal.manifest, zone, "x", chance=lambda: 0.25)
    assert jittered._pause(1) == 0.5


def test_a_segment_that_is_refused_holds_up_no_other(tmp_path: Path) -> None:
    zone = tmp_path / "zone"
    zone.mkdir()

    class Picky(Folder):
        def deliver(self, parcel: Parcel) -> None:
            if "-000000000011-" in parcel.name:
                raise ShippingError("413")
            super().deliver(parcel)

    with (
        sealed_journal(tmp_path / "journal", segments=3) as journal,
        shipper_to(journal, Picky(zone)),
    ):
        wait_until(lambda: journal.manifest.waiting == 1)
    assert len(landed(zone)) == 20


def test_a_zone_that_lies_is_never_believed(tmp_path: Path) -> None:
    zone = tmp_path / "zone"
    zone.mkdir()

    class Liar(Folder):
        def _copy(self, parcel: Parcel, target: Path) -> None:
            super()._copy(parcel, target)
            data = bytearray(target.read_bytes())
            data[len(data) // 2] ^= 1
            target.write_bytes(data)

    with sealed_journal(tmp_path / "journal", segments=2) as journal:
        shipper = shipper_to(journal, Liar(zone))
        shipper.ship()
        assert journal.manifest.waiting == 2
        assert "other bytes" in shipper.statistics.failing
        shipper_to(journal, Folder(zone)).ship()  # an honest one puts it right
        assert journal.manifest.waiting == 0
    assert len(landed(zone)) == 20


def test_a_segment_that_the_own_disk_damaged_is_not_shipped(tmp_path: Path) -> None:
    zone = tmp_path / "zone"
    zone.mkdir()
    with sealed_journal(tmp_path / "journal", segments=2) as journal:
        first, _ = journal.manifest.sealed()
        path = journal.folder / str(first.name)
        path.write_bytes(path.read_bytes()[:-1])
        shipper_to(journal, Folder(zone)).ship()
        assert journal.manifest.waiting == 0
    assert len(landed(zone)) == 10
    (gap,) = zone.rglob("*.gap.json")
    assert "-000000000001-10-" in gap.name


def test_a_folder_that_is_not_there_is_a_mount_that_is_gone(tmp_path: Path) -> None:
    with sealed_journal(tmp_path / "journal", segments=1) as journal:
        shipper = shipper_to(journal, Folder(tmp_path / "usb"))
        shipper.ship()
        assert journal.manifest.waiting == 1
        assert "there is no folder" in shipper.statistics.failing
        assert not (tmp_path / "usb").exists()


@pytest.mark.parametrize(
    ("to", "reason"),
    [
        ("gopher://x/y", "no driver"),
        ("https://", "names no host"),
        ("http://collector.example/", "token"),
    ],
)
def test_an_address_that_cannot_be_served_says_so(to: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        open_zone(to, {})


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def s3_options(url: str) -> dict[str, object]:
    return {"endpoint_url": url, "key": "testing", "secret": "testing-secret"}


def test_an_s3_store_gets_everything_and_is_asked_what_it_has(tmp_path: Path, s3: str) -> None:
    import s3fs

    files = s3fs.S3FileSystem(**s3_options(s3), skip_instance_cache=True)
    files.mkdir("archive")
    with sealed_journal(tmp_path / "journal", segments=2) as journal:
        zone = open_zone("s3://archive/landing", s3_options(s3))
        shipper = shipper_to(journal, zone)
        shipper.ship()
        assert shipper.statistics.failing == ""
        assert journal.manifest.waiting == 0
        item = journal.manifest.sealed()[0]
        parcel = Parcel.of(journal.folder, item)
        files.pipe_file(f"archive/landing/{parcel.place}", b"damaged there")
        zone.deliver(parcel)
    files.get("archive/landing", str(tmp_path / "zone"), recursive=True)
    assert len(landed(tmp_path / "zone")) == 20


def test_an_s3_store_without_the_bucket_is_a_failure_that_is_told(tmp_path: Path, s3: str) -> None:
    with sealed_journal(tmp_path / "journal", segments=1) as journal:
        shipper = shipper_to(journal, open_zone("s3://none/x", s3_options(s3)))
        shipper.ship()
        assert journal.manifest.waiting == 1
        assert "s3://none/x" in shipper.statistics.failing


class SftpHost:
    """An SFTP server in a thread of its own; the only way in is `client_key`."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "sftp"
        self.root.mkdir()
        self.client_key, self.known_hosts = folder / "client", folder / "known_hosts"
        self._host_key = asyncssh.generate_private_key("ssh-ed25519")
        client = asyncssh.generate_private_key("ssh-ed25519")
        client.write_private_key(self.client_key)
        client.write_public_key(folder / "authorized")
        self._authorized = folder / "authorized"
        self.port = 0
        self._connections: list[asyncssh.SSHServerConnection] = []
        self._loop = asyncio.new_event_loop()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._listening.wait(10)
        public = self._host_key.export_public_key().decode().strip()
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {public}\n")

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._loop.run_forever()
        self._loop.run_until_complete(self._end())
        self._loop.close()

    async def _listen(self) -> None:
        self._server = await asyncssh.listen(
            "127.0.0.1",
            0,
            acceptor=self._connections.append,
            server_host_keys=[self._host_key],
            authorized_client_keys=str(self._authorized),
            sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=bytes(self.root)),
            allow_scp=False,
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self._listening.set()

    async def _end(self) -> None:
        self._server.close()
        for connection in self._connections:
            connection.abort()
            await connection.wait_closed()
        await self._server.wait_closed()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def options(self) -> dict[str, object]:
        return {"client_keys": [str(self.client_key)], "known_hosts": str(self.known_hosts)}


@contextmanager
def sftp_host(folder: Path) -> Iterator[SftpHost]:
    host = SftpHost(folder)
    try:
        yield host
    finally:
        host.close()


def test_an_sftp_server_gets_everything_under_its_final_name(tmp_path: Path) -> None:
    with (
        sftp_host(tmp_path) as host,
        sealed_journal(tmp_path / "journal", segments=2) as journal,
    ):
        zone = open_zone(f"sftp://me@127.0.0.1:{host.port}/landing", host.options())
        shipper = shipper_to(journal, zone)
        shipper.ship()
        assert shipper.statistics.failing == ""
        assert journal.manifest.waiting == 0
        parcel = Parcel.of(journal.folder, journal.manifest.sealed()[0])
        (host.root / "landing" / parcel.place).write_bytes(b"damaged there")
        zone.deliver(parcel)
        zone.close()
        assert len(landed(host.root)) == 20
        assert not list(host.root.rglob("*.part"))


@pytest.mark.parametrize("is_known", [True, False])
def test_an_sftp_server_that_is_another_one_gets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    """Nor one that nobody has said anything about, as it is without `known_hosts`."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with (
        sftp_host(tmp_path) as host,
        sealed_journal(tmp_path / "journal", segments=1) as journal,
    ):
        other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()
        host.known_hosts.write_text(f"[127.0.0.1]:{host.port} {other}\n")
        options = host.options()
        if not is_known:
            del options["known_hosts"]
        zone = open_zone(f"sftp://me@127.0.0.1:{host.port}/landing", options)
        shipper = shipper_to(journal, zone)
        shipper.ship()
        assert journal.manifest.waiting == 1
        assert "HostKey" in shipper.statistics.failing
        assert list(host.root.iterdir()) == []


def test_a_port_where_nobody_listens_is_tried_again(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with sealed_journal(tmp_path / "journal", segments=1) as journal:
        for to in (f"http://127.0.0.1:{port}/", f"sftp://me@127.0.0.1:{port}/x"):
            shipper = shipper_to(journal, open_zone(to, {}))
            shipper.ship()
            assert shipper.statistics.failures == 1
            assert to in shipper.statistics.failing


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sftp://edge:secret@archive:22/in", "sftp://edge@archive:22/in"),
        ("http://edge:secret@archive/in", "http://edge@archive/in"),
        ("s3://bucket/prefix", "s3://bucket/prefix"),
        ("/srv/landing", "/srv/landing"),
    ],
)
def test_password_in_the_address_of_a_zone_is_never_shown(url: str, words: str) -> None:
    assert shown(url) == words


def test_refusal_of_an_address_does_not_show_its_password() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Collector("http://edge:secret@archive/in", lambda: "")
    assert "archive" in str(caught.value)
    assert "secret" not in str(caught.value)
