"""A real Mosquitto on the files that a gateway writes: users, topics, reloads, TLS, crowds."""

import asyncio
import socket
import ssl
import stat
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from bench.readings.device import Device
from gateway.app.brokers.settings import beside_of
from gateway.app.gateway import Gateway
from gateway.cli.command import main
from gateway.config.settings import Config, TlsSettings
from gateway.demo.devices import Publication
from gateway.errors import StorageError
from gateway.gates.mqtt.mosquitto.configuration import CONFIGURATION
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING, Policy
from tests.gateway.gates.mqtt.mosquitto.beside import (
    LAMP,
    Person,
    beside,
    code_of,
    known,
    mosquitto_of,
)
from tests.gateway.security.clients import identity
from tests.kit.gateways import LOOPBACK, VALUES, WAIT_S, Program, Watch, running, watch

BAD_LOGIN, NOT_AUTHORIZED, GRANTED = 0x87, 0x87, 1


async def reached(gateway: Gateway, broker: Program) -> Watch:
    """What the gateway observes, once Mosquitto has its subscription."""
    told = await watch(gateway, VALUES)
    await asyncio.to_thread(broker.wait_for, "home/+/state")
    return told


async def test_each_client_has_its_topics_and_no_others(place: Path) -> None:
    spy = Policy(receive=frozenset({"home/spy/#"}))
    config = beside(place, known("lamp"), known("spy", spy), known("boss", EVERYTHING))
    port = config.mqtt.port
    with mosquitto_of(config) as broker:
        async with running(config) as gateway:
            told = await reached(gateway, broker)

            def use() -> None:
                with (
                    Person(port, "boss-id", "boss-secret") as boss,
                    Person(port, "spy", "spy-secret") as other,
                    Person(port, "lamp", "lamp-secret") as lamp,
                ):
                    assert (boss.code, other.code, lamp.code) == (0, 0, 0)
                    assert other.subscribe("home/#") == GRANTED
                    assert other.subscribe("$SYS/#") == GRANTED
                    assert lamp.publish("home/lamp/state", "21") == 0
                    assert lamp.publish("home/door/state", "99") == NOT_AUTHORIZED
                    assert boss.publish("home/door/state", "22") == 0
                    assert boss.publish("home/spy/note", "yours") in {0, 0x10}
                    # What it may not receive is not sent to it, though its SUBSCRIBE is granted.
                    assert other.received() == {"home/spy/note": "yours"}

            await asyncio.to_thread(use)
            await told.until(lambda: len(told.values()) >= 2)
            assert told.values() == ["21", "22"]
            for user, password in (
                ("", ""),
                ("lamp", "boss-secret"),
                ("nobody", "lamp-secret"),
                ("sosa-gateway", "lamp-secret"),
            ):
                assert await asyncio.to_thread(code_of, port, user, password) == BAD_LOGIN


def _names(config: Config) -> set[str]:
    text = (config.mqtt.mosquitto_dir / "passwords").read_text(encoding="utf-8")
    return {line.partition(":")[0] for line in text.splitlines()}


async def _until(config: Config, name: str, *, is_known: bool) -> None:
    async with asyncio.timeout(WAIT_S):
        while (name in _names(config)) != is_known:
            await asyncio.sleep(0.05)


async def test_clients_come_and_go_with_a_hang_up_and_others_stay(place: Path) -> None:
    config = beside(place, known("lamp"))
    port = config.mqtt.port
    store = IdentityStore(place / "data" / "security" / "identities.sqlite")
    with mosquitto_of(config) as broker, Person(port, "lamp", "lamp-secret") as lamp:
        async with running(config) as gateway:
            told = await reached(gateway, broker)
            await asyncio.to_thread(store.add, known("door"))
            await _until(config, "door", is_known=True)
            broker.hang_up()
            await asyncio.to_thread(broker.wait_for, "Reloading")
            assert await asyncio.to_thread(code_of, port, "door", "door-secret") == 0
            assert not lamp.ended.is_set()
            assert await asyncio.to_thread(lamp.publish, "home/lamp/state", "5") == 0
            await told.until(lambda: told.values() == ["5"])

            await asyncio.to_thread(store.revoke, "lamp")
            await _until(config, "lamp", is_known=False)
            broker.hang_up()
            assert await asyncio.to_thread(lamp.ended.wait, WAIT_S)
            assert await asyncio.to_thread(code_of, port, "lamp", "lamp-secret") == BAD_LOGIN


async def test_over_tls_devices_have_a_port_and_the_gateway_loopback(place: Path) -> None:
    config = beside(place, known("lamp"))
    with socket.create_server((LOOPBACK, 0)) as probe:
        secure = probe.getsockname()[1]
    config = config.model_copy(
        update={"tls": TlsSettings(mode="own", mqtt_port=secure, http_port=0)}
    )
    with mosquitto_of(config) as broker:
        async with running(config) as gateway:
            told = await reached(gateway, broker)
            trusting = ssl.create_default_context(cafile=str(place / "data" / "tls" / "ca.crt"))

            def use() -> None:
                with Person(secure, "lamp", "lamp-secret", trusting) as lamp:
                    assert lamp.code == 0
                    assert lamp.publish("home/lamp/state", "7") == 0

            await asyncio.to_thread(use)
            await told.until(lambda: told.values() == ["7"])


async def test_hundreds_of_clients_are_taken_up_to_the_limit(place: Path) -> None:
    crowd = 300
    config = beside(place, connections=crowd + 4, host=LOOPBACK)
    with mosquitto_of(config) as broker:
        async with running(config) as gateway:
            told = await reached(gateway, broker)

            def use() -> None:
                with ExitStack() as stack:
                    devices = [
                        stack.enter_context(Device(config.mqtt.port, f"d{n}", 10))
                        for n in range(crowd)
                    ]
                    for number, device in enumerate(devices):
                        topic = f"home/d{number}/state"
                        device.publish(Publication("d", topic, str(number).encode()))
                    for device in devices:
                        device.drain()

            await asyncio.to_thread(use)
            await told.until(lambda: len(told.values()) == crowd)
            assert sorted(map(int, told.values())) == [*range(crowd)]


async def test_one_more_than_the_limit_is_refused(place: Path) -> None:
    config = beside(place, connections=8)  # the gateway itself has four
    with mosquitto_of(config) as broker:
        async with running(config) as gateway:
            await reached(gateway, broker)

            def use() -> int:
                with ExitStack() as stack:
                    taken = 0
                    for _ in range(9):
                        socket_ = socket.create_connection((LOOPBACK, config.mqtt.port), WAIT_S)
                        stack.enter_context(socket_)
                        socket_.sendall(b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x00\x00\x00")
                        with suppress(ConnectionResetError):
                            taken += bool(socket_.recv(4))
                    return taken

            assert await asyncio.to_thread(use) == 4


def test_the_files_are_for_mosquittos_group_and_nobody_else(place: Path) -> None:
    config = beside(place, known("lamp"))
    told = beside_of(config)
    assert told is not None
    assert told.write()
    assert not told.write()  # nothing has changed, so nobody is woken
    folder = config.mqtt.mosquitto_dir
    assert stat.S_IMODE(folder.stat().st_mode) == 0o750
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert path.stat().st_gid == folder.stat().st_gid
    assert "lamp-secret" not in "".join(each.read_text() for each in folder.iterdir())


def test_a_folder_that_cannot_be_written_says_what_to_do(place: Path) -> None:
    config = beside(place, known("lamp"))
    config.mqtt.mosquitto_dir.write_text("no folder")
    told = beside_of(config)
    assert told is not None
    with pytest.raises(StorageError, match="Mosquitto is to read") as caught:
        told.write()
    assert caught.value.hint
    told.follow()
    assert [each.kind.value for each in told.conditions()] == ["broker"]


async def test_another_mode_takes_the_configuration_away_and_nobody_elses(place: Path) -> None:
    config = beside(place, known("lamp"))
    told = beside_of(config)
    assert told is not None
    told.write()
    path = config.mqtt.mosquitto_dir / CONFIGURATION
    changed = config.mqtt.model_copy(update={"mode": "embedded", "port": 0})
    async with running(config.model_copy(update={"mqtt": changed})):
        assert list(path.parent.iterdir()) == []  # neither hashes nor the certificate's key
    path.write_text("listener 1884\n", encoding="utf-8")
    async with running(config.model_copy(update={"mqtt": changed})):
        assert path.exists()


class TestCommands:
    """`client` and `mqtt-user` with `[mqtt] mode = "mosquitto"`."""

    @pytest.fixture
    def toml(self, place: Path) -> Path:
        path = place / "gateway.toml"
        path.write_text(
            '[security]\nenabled = true\n[mqtt]\nmode = "mosquitto"\n', encoding="utf-8"
        )
        return path

    def test_what_is_added_renewed_and_revoked_is_in_the_files(
        self, place: Path, toml: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        passwords = place / "mosquitto" / "passwords"
        last = ("--config", str(toml))
        assert main(["client", "add", "lamp", "--publish", "a/#", "--secret", *last]) == 0
        before = passwords.read_text()
        assert sorted(line.partition(":")[0] for line in before.splitlines())[-1] == "sosa-gateway"
        assert "lamp:$7$101$" in before
        assert main(["client", "renew", "lamp", *last]) == 0
        after = passwords.read_text()
        assert "lamp:$7$101$" in after
        assert after != before
        first, second = [
            line for line in capsys.readouterr().out.splitlines() if line.startswith("client_id")
        ]
        assert first == second
        assert main(["client", "revoke", "lamp", *last]) == 0
        assert "lamp" not in passwords.read_text()

    def test_check_names_who_was_there_before_and_the_command(
        self, place: Path, toml: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        config = beside(place, identity("lamp", LAMP), identity("page"))
        assert config.security.enabled
        main(["check", "--config", str(toml)])
        out = capsys.readouterr().out
        assert "lamp cannot come by MQTT" in out
        assert "sosa-gateway client renew lamp" in out
        assert "page" not in out
        assert not (place / "mosquitto").exists()

    def test_mqtt_user_prints_a_hash_that_both_brokers_take(
        self, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        toml = place / "gateway.toml"
        toml.write_text('[mqtt]\nmode = "mosquitto"\nhost = "0.0.0.0"\n', encoding="utf-8")
        with (place / "typed").open("w+") as typed:
            typed.write("open sesame\n")
            typed.seek(0)
            monkeypatch.setattr("sys.stdin", typed)
            assert main(["mqtt-user", "kitchen", "--config", str(toml)]) == 0
        line = capsys.readouterr().out.strip()
        assert line.startswith('"kitchen" = "$7$10000$')
