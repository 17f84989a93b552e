"""`sosa-gateway modbus read` and `check`, as a person types them."""

import asyncio
import os
from pathlib import Path

import pytest

from gateway.cli import check as checking
from gateway.cli.command import main
from gateway.config.file import Given
from gateway.gates.modbus import line
from tests.gateway.gates.modbus.devices import Device, tcp


def written(folder: Path, port: int, timeout_s: float = 10.0) -> Path:
    file = folder / "gateway.toml"
    file.write_text(
        f'[[modbus.buses]]\nname = "cellar"\nhost = "127.0.0.1"\nport = {port}\n'
        f"timeout_s = {timeout_s}\n"
    )
    return file


async def typed(file: Path, *words: str) -> int:
    return await asyncio.to_thread(main, ["modbus", "read", *words, "--config", str(file)])


async def test_registers_are_shown_in_the_ways_they_can_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with tcp([Device(registers={10: 0x41AC, 11: 0})]) as port:
        assert await typed(written(tmp_path, port), "cellar/1", "40011", "--count", "2") == 0
    heading, first, second = capsys.readouterr().out.splitlines()
    assert heading.split()[:3] == ["address", "number", "hex"]
    assert first.split()[:6] == ["10", "40011", "0x41ac", "16812", "16812", "21.5"]
    assert second.split()[:4] == ["11", "40012", "0x0000", "0"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["cellar/1", "holding", "900"], "illegal data address (2)"),
        (["attic/1", "holding", "0"], "[modbus] buses has no 'attic', but cellar"),
        (["cellar", "holding", "0"], "no BUS/UNIT"),
        (["cellar/1", "holding", "0", "--count", "126"], "--count 126"),
    ],
)
async def test_what_is_wrong_is_told_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    async with tcp([Device()]) as port:
        assert await typed(written(tmp_path, port), *words) != 0
    error = capsys.readouterr().err
    assert told in error
    assert "what to do: " in error


async def test_a_unit_that_does_not_answer_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with tcp([Device(is_silent=True)]) as port:
        assert await typed(written(tmp_path, port, 0.3), "cellar/1", "holding", "0") != 0
    assert "cellar/1: no answer in 0.3 s" in capsys.readouterr().err


def test_check_tells_a_missing_extra_and_a_line_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text('[[modbus.buses]]\nname = "a"\ndevice = "/dev/not-there"\n')
    given = Given.read(file, os.environ)
    told = [str(each) for each in checking.check(given, {})]
    assert any('bus "a": /dev/not-there is not there' in each for each in told)

    def missing(name: str) -> object:
        raise ImportError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(line, "import_module", missing)
    told = [str(each) for each in checking.check(given, {})]
    assert any("pip install 'sosa-gateway[modbus]'" in each for each in told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('name = "a"', "either host"),
        ('name = "a"\nhost = "h"\ndevice = "/dev/x"', "either host"),
        ('name = "a b"\nhost = "h"', "use 1 to 64 letters"),
        ('name = "a"\nhost = "h"\n[[modbus.buses]]\nname = "a"\nhost = "g"', "two buses"),
        ('name = "a"\ndevice = "/x"\n[[modbus.buses]]\nname = "b"\ndevice = "/x"', "is one line"),
    ],
)
def test_wrong_buses_are_told(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text(f"[[modbus.buses]]\n{text}\n")
    _, faults = Given.read(file, {}).what_is_right()
    assert any(told in each.reason for each in faults)
