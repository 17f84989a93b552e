"""gateway.cli.next_steps: what to type after the demo, wherever it was typed."""

import sys
from pathlib import Path

import pytest

from gateway.cli.next_steps import SUBSCRIBED, UPDATED, next_steps, typed
from gateway.demo.settings import Ports

DEFAULTS = Ports(1883, 8000, 9000)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without a gateway.toml, of somebody who has logged in nowhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["/opt/bin/sosa-gateway", "demo"])


def steps(ports: Ports = DEFAULTS, config: Path | None = None) -> list[str]:
    return [line.strip() for line in next_steps(ports, config)[1:]]


def test_with_the_defaults_nothing_needs_to_be_said() -> None:
    assert steps() == [
        "/opt/bin/sosa-gateway run",
        f"/opt/bin/sosa-gateway subscribe '{SUBSCRIBED}'",
        f"/opt/bin/sosa-gateway update '{UPDATED}'",
    ]


def test_ports_that_were_moved_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the environment too: they may have been set for the demo alone."""
    monkeypatch.setenv("SOSA_GATEWAY_HTTP__PORT", "8100")
    run, subscribe, update = steps(Ports(1884, 8100, 9000))
    ports = "SOSA_GATEWAY_MQTT__PORT=1884 SOSA_GATEWAY_HTTP__PORT=8100"
    assert run == f"{ports} /opt/bin/sosa-gateway run"
    assert " --url http://127.0.0.1:8100 " in subscribe
    assert " --url http://127.0.0.1:8100 " in update


def test_what_the_gateway_toml_of_this_folder_says_is_known(tmp_path: Path) -> None:
    (tmp_path / "gateway.toml").write_text("[http]\nport = 8200\n", encoding="utf-8")
    assert steps(Ports(1883, 8200, 9000)) == steps(Ports(1883, 8200, 9000), None)
    assert all("8200" not in line for line in steps(Ports(1883, 8200, 9000)))


def test_a_configuration_that_was_named_is_named_again(tmp_path: Path) -> None:
    file = tmp_path / "my house.toml"
    file.write_text("[http]\nport = 8200\n", encoding="utf-8")
    run, subscribe, _ = steps(Ports(1883, 8200, 9000), file)
    assert run == f"/opt/bin/sosa-gateway run --config '{file}'"
    assert " --url http://127.0.0.1:8200 " in subscribe


def test_a_gateway_with_tls_lets_clients_in_first(tmp_path: Path) -> None:
    (tmp_path / "gateway.toml").write_text('[tls]\nmode = "own"\n', encoding="utf-8")
    check, run, client = steps()
    assert [each.split()[1] for each in (check, run, client)] == ["check", "run", "client"]


@pytest.mark.parametrize(
    ("called", "found", "command"),
    [
        (".venv/bin/sosa-gateway", None, [".venv/bin/sosa-gateway"]),
        ("/x/sosa-gateway", "/x/sosa-gateway", ["sosa-gateway"]),
        ("/x/sosa-gateway", "/y/sosa-gateway", ["/x/sosa-gateway"]),
        ("/src/gateway/__main__.py", None, [sys.executable, "-m", "gateway"]),
    ],
)
def test_it_is_called_as_it_was(
    monkeypatch: pytest.MonkeyPatch, called: str, found: str | None, command: list[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [called, "demo"])
    monkeypatch.setattr("shutil.which", lambda _: found)
    assert typed() == command
