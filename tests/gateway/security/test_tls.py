"""TLS: a CA and certificates of our own, or given ones; HTTPS, WSS and MQTT with them."""

import asyncio
import json
import socket
import ssl
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion
from websockets.asyncio.client import connect

from gateway.app.gateway import Gateway
from gateway.app.names import server_names
from gateway.cli.command import main
from gateway.config.settings import Config, HttpSettings, MqttSettings, TlsSettings
from gateway.errors import ConfigurationError
from gateway.security.certificates import make_ca, make_server
from gateway.security.tls import GivenCertificate, OwnCertificate
from tests.kit.gateways import running, settings, write_profile

NAMES = ("localhost", "127.0.0.1", "::1", "gateway.lan")
START = datetime(2026, 11, 21, tzinfo=UTC)


class Calendar:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def certificate_of(folder: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate((folder / "server.crt").read_bytes())


def test_a_ca_and_a_certificate_are_made_at_first_start(tmp_path: Path) -> None:
    folder = tmp_path / "tls"
    made = OwnCertificate(folder, lambda: NAMES)
    for name, mode in (("ca.key", 0o600), ("server.key", 0o600), ("ca.crt", 0o600)):
        assert stat.S_IMODE((folder / name).stat().st_mode) == mode
    first = certificate_of(folder)
    ca = x509.load_pem_x509_certificate(made.ca_path.read_bytes())
    first.verify_directly_issued_by(ca)
    assert ca.extensions.get_extension_for_class(x509.BasicConstraints).value.path_length == 0
    OwnCertificate(folder, lambda: NAMES)
    assert certificate_of(folder) == first


def test_a_certificate_is_renewed_in_time_and_for_new_names(tmp_path: Path) -> None:
    calendar = Calendar()
    names: list[tuple[str, ...]] = [NAMES]
    own = OwnCertificate(tmp_path, lambda: names[0], calendar)
    first, ca = certificate_of(tmp_path), own.ca_path.read_bytes()
    calendar.now += timedelta(days=300)
    own.renew()
    assert certificate_of(tmp_path) == first
    calendar.now += timedelta(days=67)
    own.renew()
    second = certificate_of(tmp_path)
    assert second.not_valid_after_utc > calendar.now + timedelta(days=300)
    names[0] = (*NAMES, "192.0.2.7")
    own.renew()
    alternatives = certificate_of(tmp_path).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    assert len(alternatives.value) == 5
    assert own.ca_path.read_bytes() == ca


def test_a_certificate_of_a_clock_that_was_wrong_is_replaced(tmp_path: Path) -> None:
    calendar = Calendar()
    calendar.now = START + timedelta(days=100)
    own = OwnCertificate(tmp_path, lambda: NAMES, calendar)
    calendar.now = START
    own.renew()
    assert certificate_of(tmp_path).not_valid_before_utc <= START


@pytest.mark.parametrize("damaged", ["server.crt", "server.key"])
def test_a_damaged_or_missing_certificate_is_made_anew(tmp_path: Path, damaged: str) -> None:
    OwnCertificate(tmp_path, lambda: NAMES)
    (tmp_path / damaged).unlink()
    OwnCertificate(tmp_path, lambda: NAMES)
    (tmp_path / "server.crt").write_bytes(b"torn")
    own = OwnCertificate(tmp_path, lambda: NAMES)
    assert own.context.cert_store_stats()["x509"] == 0
    assert certificate_of(tmp_path)


def test_certificate_of_another_ca_is_made_anew(tmp_path: Path) -> None:
    OwnCertificate(tmp_path, lambda: NAMES)
    # By name it is the same CA; the signature tells.
    foreign = make_server(NAMES, make_ca("sosa-gateway", START), START)
    (tmp_path / "server.crt").write_bytes(foreign.certificate)
    (tmp_path / "server.key").write_bytes(foreign.key)
    OwnCertificate(tmp_path, lambda: NAMES)
    assert (tmp_path / "server.crt").read_bytes() != foreign.certificate


def given(folder: Path, *names: str) -> tuple[Path, Path]:
    ca = make_ca("given", START)
    server = make_server(names or NAMES, ca, START)
    files = folder / "given.crt", folder / "given.key"
    for path, content in zip(files, (server.certificate, server.key), strict=True):
        path.write_bytes(content)
    (folder / "given-ca.crt").write_bytes(ca.certificate)
    return files


def test_given_files_are_taken_and_taken_up_when_they_change(tmp_path: Path) -> None:
    certificate, key = given(tmp_path)
    taken = GivenCertificate(certificate, key)
    given(tmp_path, "other.lan")
    taken.renew()
    other = key.read_bytes()
    given(tmp_path)
    key.write_bytes(other)
    with pytest.raises(ConfigurationError, match="belong together"):
        taken.renew()


def test_files_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    certificate, key = given(tmp_path)
    with pytest.raises(ConfigurationError, match="cannot read"):
        GivenCertificate(certificate, tmp_path / "absent")
    certificate.write_text("no certificate", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"given\.crt"):
        GivenCertificate(certificate, key)


def secure(folder: Path, **tls: object) -> Config:
    ports = {"http_port": 0, "websocket_port": 0, "mqtt_port": 0}
    config = settings(folder, write_profile(folder))
    return config.model_copy(update={"tls": TlsSettings.model_validate({**ports, **tls})})


@asynccontextmanager
async def serving(
    config: Config, ca: Path
) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient, ssl.SSLContext]]:
    async with running(config) as gateway:
        trust = ssl.create_default_context(cafile=ca)
        url = f"https://localhost:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url, verify=trust) as client:
            yield gateway, client, trust


async def test_https_wss_and_mqtt_are_served_below_secure_too(tmp_path: Path) -> None:
    ca = tmp_path / "data" / "tls" / "ca.crt"
    async with serving(secure(tmp_path, mode="own"), ca) as (gateway, client, trust):
        for prefix in ("", "/secure"):
            asked = await client.get(f"{prefix}/query", params={"query": "ASK {}"})
            assert asked.json()["boolean"] is True
            async with connect(
                f"wss://localhost:{gateway.websocket_port}{prefix}/subscribe", ssl=trust
            ) as socket:
                await socket.send(json.dumps({"subscribe": {"sparql": "SELECT * { ?s ?p ?o }"}}))
                assert json.loads(await socket.recv())["notification"]["sequence"] == 0
        mqtt = Client(CallbackAPIVersion.VERSION2, "device")
        mqtt.tls_set_context(trust)
        assert await asyncio.to_thread(mqtt.connect, "localhost", gateway.mqtt_port) == 0
        await asyncio.to_thread(mqtt.disconnect)
        with pytest.raises(httpx.RemoteProtocolError):
            async with httpx.AsyncClient() as plain:
                await plain.get(f"http://localhost:{gateway.http_port}/health")
        with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
            async with httpx.AsyncClient() as stranger:
                await stranger.get(f"https://localhost:{gateway.http_port}/health")


@pytest.mark.parametrize(
    ("ciphers", "is_taken"),
    [
        ("ECDHE+AES:!AESGCM:!AESCCM", False),
        ("AES128-SHA:AES256-SHA:AES128-GCM-SHA256", False),
        ("ECDHE+AESGCM", True),
        ("ECDHE+CHACHA20", True),
    ],
)
async def test_every_port_takes_authenticated_ciphers_alone(
    tmp_path: Path, ciphers: str, is_taken: bool
) -> None:
    ca = tmp_path / "data" / "tls" / "ca.crt"
    async with serving(secure(tmp_path, mode="own"), ca) as (gateway, _, _):
        trust = ssl.create_default_context(cafile=ca)
        trust.maximum_version = ssl.TLSVersion.TLSv1_2
        trust.set_ciphers(ciphers)
        for port in (gateway.http_port, gateway.websocket_port, gateway.mqtt_port):
            try:
                _, writer = await asyncio.open_connection("localhost", port, ssl=trust)
            except (ssl.SSLError, ConnectionError):
                assert not is_taken
            else:
                assert is_taken
                assert writer.get_extra_info("cipher")[1] == "TLSv1.2"
                writer.close()


async def test_given_files_are_served(tmp_path: Path) -> None:
    certificate, key = given(tmp_path)
    config = secure(tmp_path, mode="files", certificate=str(certificate), key=str(key))
    async with serving(config, tmp_path / "given-ca.crt") as (_, client, _):
        assert (await client.get("/health")).status_code == 200


def test_a_certificate_has_the_names_by_which_any_port_is_called() -> None:
    local = server_names(HttpSettings(), MqttSettings())
    assert set(local) == {"localhost", "127.0.0.1", "::1"}
    for http, mqtt in (("127.0.0.1", "0.0.0.0"), ("::", "127.0.0.1")):
        names = server_names(
            HttpSettings(host=http, hosts=("gateway.lan:8443", "[2001:db8::7]:8443")),
            MqttSettings(host=mqtt),
        )
        assert {socket.gethostname().lower(), "gateway.lan", "2001:db8::7", *local} <= set(names)
        assert not {"0.0.0.0", "::"} & set(names)
    elsewhere = MqttSettings(mode="external", host="broker.lan")
    assert server_names(HttpSettings(), elsewhere) == local


def test_the_command_line_tells_where_the_ca_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text('[tls]\nmode = "own"\n', encoding="utf-8")
    assert main(["ca", "--config", str(file)]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path == tmp_path / "data" / "tls" / "ca.crt"
    assert x509.load_pem_x509_certificate(path.read_bytes())
    file.write_text("", encoding="utf-8")
    assert main(["ca", "--config", str(file)]) == 1
    assert "no CA of its own" in capsys.readouterr().err
