"""`sosa-gateway journal`, `collect` and `check`, as a person types them."""

import subprocess
import sys
from pathlib import Path

import pytest

from gateway.cli.command import main
from gateway.journal import Journal
from tests.gateway.shipping.journals import ORIGIN, fill, landed
from tests.kit.gateways import Program, free_port

COMMAND = (
    sys.executable,
    "-W",
    "error",
    "-c",
    "from gateway.cli.command import main; exit(main())",
)
TOKEN = "0123456789abcdef-kitchen"


def write_config(folder: Path, shipping: str) -> str:
    file = folder / "gateway.toml"
    file.write_text(f'[gateway]\nid = "kitchen"\n[shipping]\n{shipping}\n', encoding="utf-8")
    return str(file)


def a_stopped_gateway(folder: Path) -> None:
    with Journal(folder / "data" / "journal", ORIGIN) as journal:
        fill(journal, 5)


def test_ship_seals_and_brings_everything_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_stopped_gateway(tmp_path)
    (tmp_path / "zone").mkdir()
    config = write_config(tmp_path, 'to = "zone"')
    assert main(["journal", "--config", config]) == 0
    assert "raw segments           1" in capsys.readouterr().out
    assert main(["journal", "ship", "--config", config]) == 0
    assert capsys.readouterr().out == "1 segments shipped\n"
    assert main(["journal", "status", "--config", config]) == 0
    told = capsys.readouterr().out
    assert "observations sealed    5\n" in told
    assert "not shipped            0 (0 bytes)\n" in told
    assert len(landed(tmp_path / "zone")) == 5


def test_ship_says_what_fails_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_stopped_gateway(tmp_path)
    assert main(["journal", "ship", "--config", write_config(tmp_path, 'to = "zone"')]) == 1
    assert "there is no folder" in capsys.readouterr().err
    assert main(["journal", "ship", "--config", write_config(tmp_path, "")]) == 1
    assert "set [shipping] to" in capsys.readouterr().err


def test_a_journal_in_use_is_not_sealed_by_another_process(tmp_path: Path) -> None:
    config = write_config(tmp_path, "")
    with Journal(tmp_path / "data" / "journal", ORIGIN):
        done = subprocess.run(
            [*COMMAND, "journal", "seal", "--config", config],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "another process" in done.stderr


@pytest.mark.parametrize(
    ("shipping", "reason"),
    [
        ('to = "gopher://x/"', "no driver"),
        ('to = "https://collector.example/"\ntoken_file = "none"', "cannot read"),
        ('to = "http://collector.example/"', "use https"),
        ('to = "zone"\ntoken_file = "x"', "token_file and ca_file are for"),
        ('to = "zone"\n[shipping.options]\nkey = "x"', "options are for a driver"),
    ],
)
def test_check_says_what_is_wrong_with_shipping(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shipping: str, reason: str
) -> None:
    assert main(["check", "--config", write_config(tmp_path, shipping)]) == 1
    told = capsys.readouterr()
    assert reason in told.out + told.err


def test_collect_takes_what_another_command_ships(tmp_path: Path) -> None:
    a_stopped_gateway(tmp_path)
    (tmp_path / "tokens").write_text(f"kitchen {TOKEN}\n")
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    port = free_port()
    config = write_config(tmp_path, f'to = "http://127.0.0.1:{port}"\ntoken_file = "token"')
    arguments = ("collect", str(tmp_path / "zone"), "--tokens", str(tmp_path / "tokens"))
    with Program(*COMMAND, *arguments, "--port", str(port)) as program:
        program.wait_for("collecting")
        assert main(["journal", "ship", "--config", config]) == 0
        assert program.terminate() == 0
    assert len(landed(tmp_path / "zone")) == 5


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--host", "0.0.0.0"], "in the clear"),
        (["--certificate", "x.pem"], "needs its key"),
    ],
)
def test_collect_refuses_what_would_show_tokens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], reason: str
) -> None:
    (tmp_path / "tokens").write_text(f"kitchen {TOKEN}\n")
    given = ["collect", str(tmp_path / "zone"), "--tokens", str(tmp_path / "tokens"), *arguments]
    assert main(given) == 1
    assert reason in capsys.readouterr().err
