"""An external broker over TLS: messages in, commands out, nobody else's certificate."""

import asyncio
import shutil
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from gateway.config.settings import Config, MqttSettings
from gateway.errors import ConfigurationError
from gateway.security.certificates import make_ca, make_server
from tests.kit.gateways import (
    LOOPBACK,
    VALUES,
    WAIT_S,
    Mosquitto,
    Program,
    free_port,
    mapping,
    running,
    settings,
    watch,
    write_profile,
)

MAPPING = mapping("temperature", "sensor/+", format="scalar")
LARGE = 200


@contextmanager
def mosquitto_with_tls(folder: Path, name: str = "localhost") -> Iterator[Mosquitto]:
    program = shutil.which("mosquitto") or shutil.which("/usr/sbin/mosquitto")
    if program is None:
        pytest.skip("mosquitto is not installed")
    now = datetime.now(UTC)
    ca = make_ca("test", now)
    server = make_server([name], ca, now)
    for kept, content in (
        ("ca.crt", ca.certificate),
        ("server.crt", server.certificate),
        ("server.key", server.key),
    ):
        (folder / kept).write_bytes(content)
    port, file = free_port(), folder / "mosquitto.conf"
    file.write_text(
        f"user root\nlistener {port} {LOOPBACK}\nallow_anonymous true\npersistence false\n"
        f"certfile {folder}/server.crt\nkeyfile {folder}/server.key\n"
        "log_dest stderr\nlog_type all\n",
        encoding="utf-8",
    )
    with Program(program, "-c", str(file)) as process:
        process.wait_for(" running")
        yield Mosquitto(process, port)


def dialling(folder: Path, port: int, ca_file: Path) -> Config:
    mqtt = {"mode": "external", "host": "localhost", "port": port, "tls": True}
    config = settings(folder, write_profile(folder, [MAPPING]))
    return config.model_copy(
        update={"mqtt": MqttSettings.model_validate({**mqtt, "ca_file": str(ca_file)})}
    )


async def test_readings_come_over_tls(tmp_path: Path) -> None:
    with mosquitto_with_tls(tmp_path) as broker:
        async with running(dialling(tmp_path, broker.port, tmp_path / "ca.crt")) as gateway:
            await asyncio.to_thread(broker.wait_subscribed, "sensor/+")
            told = await watch(gateway, VALUES)
            await asyncio.to_thread(_publish, broker.port, tmp_path / "ca.crt")
            await told.until(lambda: told.count_added >= LARGE)
            assert sorted(map(float, told.values())) == list(range(LARGE))


def _publish(port: int, ca_file: Path) -> None:
    """Many at once, so that one TLS record brings several and several records come together."""
    client = Client(CallbackAPIVersion.VERSION2, "device")
    client.tls_set_context(ssl.create_default_context(cafile=ca_file))
    client.max_inflight_messages_set(1000)
    client.connect("localhost", port)
    client.loop_start()
    sent = [client.publish(f"sensor/{number}", str(number), 1) for number in range(LARGE)]
    for each in sent:
        each.wait_for_publish(WAIT_S)
    client.disconnect()
    client.loop_stop()


async def test_a_broker_with_another_name_or_ca_is_not_believed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with mosquitto_with_tls(tmp_path, "another.example") as broker:
        async with running(dialling(tmp_path, broker.port, tmp_path / "ca.crt")):
            async with asyncio.timeout(WAIT_S):
                while "a certificate that is not trusted" not in str(
                    [vars(r) for r in caplog.records]
                ):
                    await asyncio.sleep(0.05)


def test_a_missing_ca_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"mqtt\.ca_file: cannot use"):
        dialling(tmp_path, 1, tmp_path / "absent").mqtt.client_context()
