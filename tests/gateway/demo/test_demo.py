"""The demo and the service as a person starts them: a process, its output, its end."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.kit.gateways import WAIT_S, free_port
from tests.paths import SHARED

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("ports of the demo")]

MULTI_HOP = SHARED / "data" / "sensors" / "wsn-multi-hop" / "data.csv"
GATEWAY = [
    sys.executable,
    "-W",
    "error",
    "-c",
    "from gateway.cli.command import main; exit(main())",
]
END_TIMEOUT_S = 60
ANY_PORTS = {f"SOSA_GATEWAY_{name}__PORT": "0" for name in ("MQTT", "HTTP", "WEBSOCKET")}


@contextmanager
def started(
    *arguments: str, environment: Mapping[str, str] = ANY_PORTS
) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*GATEWAY, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def finished(process: subprocess.Popen[str], timeout_s: float = END_TIMEOUT_S) -> str:
    """What it wrote, once it has ended well and without a word on standard error."""
    out, errors = process.communicate(timeout=timeout_s)
    assert errors == ""
    assert process.returncode == 0
    return out


def figures(out: str) -> dict[str, float]:
    (summary,) = (line for line in out.splitlines() if line.startswith("summary: "))
    return {name: float(value) for name, value in re.findall(r"(\w+)=([^\s:]+)", summary)}


def read_until(process: subprocess.Popen[str], text: str) -> str:
    """The first line with the text; fails when the process ends before."""
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return line
    pytest.fail(f"ended without {text!r}: {process.stderr.read() if process.stderr else ''}")


def test_the_house_lives_and_its_fan_obeys() -> None:
    with started("demo", "--duration", "6", "--plain", "--speed", "120") as process:
        counted = figures(finished(process))
    assert counted["published"] >= 100
    assert counted["readings_in"] == counted["published"]
    assert counted["observations"] > 100
    assert counted["quarantined"] >= 2
    assert counted["duplicates"] >= 1
    assert counted["commands_out"] >= 1
    assert counted["rows_added"] > counted["rows_removed"] > 10
    assert 0 < counted["ingest_p50_ms"] <= counted["ingest_p99_ms"]


def test_what_the_house_proposes_is_accepted_and_its_questions_are_answered() -> None:
    with started("demo", "--duration", "4", "--plain") as process:
        lines = finished(process).splitlines()
    accepted = "sosa-gateway mapping confirm --all: 22 accepted; left with a question: "
    assert f"{accepted}hallway water" in lines
    last = next(index for index, line in enumerate(lines) if line.startswith("summary: "))
    assert [line.partition("?")[0] for line in lines[last - 3 : last]] == [
        "which windows are open",
        "what uses more than 100 W",
        "which batteries are low",
    ]
    assert "fridge ENERGY.Power 1" in lines[last - 2]


def test_the_demo_ends_well_on_ctrl_c() -> None:
    with started("demo", "--plain") as process:
        read_until(process, "readings")
        process.send_signal(signal.SIGINT)
        assert figures(finished(process))["published"] > 0


@contextmanager
def taken(port: int) -> Iterator[None]:
    """Nobody else can listen on it: another test may have it for a while, a broker for good."""
    end = monotonic() + WAIT_S
    while True:
        try:
            holder = socket.create_server(("127.0.0.1", port))
        except OSError:
            if monotonic() > end:
                yield
                return
            sleep(0.1)
        else:
            with holder:
                yield
            return


def test_the_demo_moves_when_its_ports_are_taken() -> None:
    with (
        taken(1883),
        started("demo", "--plain", "--duration", "1", environment={}) as process,
    ):
        out = finished(process)
    assert "MQTT port 1883 is in use, using " in out
    assert "[mqtt] port, or SOSA_GATEWAY_MQTT__PORT, sets it" in out
    assert figures(out)["published"] > 0


def test_the_demo_keeps_to_the_ports_that_are_set(tmp_path: Path) -> None:
    """By the environment and by a gateway.toml; both are told when they are in use."""
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as two,
    ):
        mqtt, http = (each.getsockname()[1] for each in (one, two))
        config = tmp_path / "gateway.toml"
        config.write_text(f"[http]\nport = {http}\n", encoding="utf-8")
        environment = {"SOSA_GATEWAY_MQTT__PORT": str(mqtt)}
        with started(
            "demo", "--plain", "--config", str(config), environment=environment
        ) as process:
            out, errors = process.communicate(timeout=END_TIMEOUT_S)
    assert process.returncode == 1
    assert "summary" not in out
    assert errors.splitlines() == [
        f"error: MQTT port {mqtt} is in use: [mqtt] port, or SOSA_GATEWAY_MQTT__PORT, changes it",
        f"HTTP port {http} is in use: [http] port, or SOSA_GATEWAY_HTTP__PORT, changes it",
        "what to do: name another port there, 0 for any free one, or end what has it",
    ]


def test_a_recording_is_replayed_row_by_row(tmp_path: Path) -> None:
    rows = "".join(f"{number},{number % 3},{number}.50\n" for number in range(60))
    path = tmp_path / "lab.csv"
    path.write_text(f"reading,box_id,humidity\n{rows}", encoding="utf-8")
    with started("demo", "--plain", "--replay", str(path)) as process:
        counted = figures(finished(process))
    assert counted["published"] == counted["readings_in"] == counted["observations"] == 60
    assert counted["rows_added"] - counted["rows_removed"] == 3
    assert counted["quarantined"] == counted["duplicates"] == 0


@pytest.mark.slow
@pytest.mark.skipif(not MULTI_HOP.exists(), reason="no wsn-multi-hop sample data beside us")
def test_part_of_the_multi_hop_network_is_replayed(tmp_path: Path) -> None:
    lines = MULTI_HOP.read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path / "multi-hop.csv"
    path.write_text("".join([lines[0], *lines[-3_000:]]), encoding="utf-8")
    with started("demo", "--plain", "--replay", str(path)) as process:
        counted = figures(finished(process, timeout_s=250))
    assert counted["published"] == counted["readings_in"] == 3_000
    assert counted["observations"] == 4 * 3_000
    assert counted["quarantined"] == counted["duplicates"] == 0


def test_a_replay_of_an_absent_file_is_told(tmp_path: Path) -> None:
    with started("demo", "--plain", "--replay", str(tmp_path / "no.csv")) as process:
        _, errors = process.communicate(timeout=END_TIMEOUT_S)
    assert process.returncode == 1
    assert errors.startswith("error: cannot read ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_service_ends_well_on_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    config = tmp_path / "gateway.toml"
    config.write_text(
        f"[mqtt]\nport = {free_port()}\n[http]\nport = {free_port()}\n[websocket]\nport = 0\n"
        '[log]\nformat = "json"\n',
        encoding="utf-8",
    )
    with started("run", "--config", str(config), environment={}) as process:
        assert process.stderr is not None
        events = []
        for line in process.stderr:
            events.append(json.loads(line)["event"])
            if events[-1] == "serving":
                process.send_signal(number)
        assert process.wait(END_TIMEOUT_S) == 0
    assert events[-1] == "stopping"
    assert (tmp_path / "data").is_dir()


def test_a_fleet_is_compared_with_its_truth() -> None:
    with started("demo", "--fleet", "26", "--minutes", "3", "--seed", "7") as process:
        out = finished(process, 60)
    counted = figures(out)
    assert counted["simulated_s"] == 180
    assert counted["messages"] > 75
    assert out.endswith("all equal\n")
    assert "zigbee2mqtt" in out


def test_a_fleet_ends_well_on_ctrl_c() -> None:
    with started("demo", "--fleet", "26", "--minutes", "10000") as process:
        read_until(process, "simulated")
        process.send_signal(signal.SIGINT)
        assert finished(process, 60).endswith("all equal\n")
