"""The documents name every metric, error code and command: what they leave out nobody finds."""

import re

import pytest

from gateway import errors
from gateway.cli.command import main
from gateway.errors import GatewayError
from tests.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = README + "".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))
)


def codes(error: type[GatewayError]) -> set[str]:
    return {error.code}.union(*map(codes, error.__subclasses__()))


def test_nothing_follows_in_a_block_what_runs_until_it_is_ended() -> None:
    """Who pastes a block into a terminal would not come to the next line, or too early to a `&`."""
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", DOCUMENTS, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 20
    running = [each for each in blocks if re.search(r"^ *sosa-gateway run\b", each, re.MULTILINE)]
    assert running
    assert not [each for each in running if "sosa-gateway run" not in each.splitlines()[-1]]


def test_every_metric_is_documented() -> None:
    modules = (ROOT / "gateway").rglob("measures.py")
    source = "".join(path.read_text(encoding="utf-8") for path in modules)
    names = re.findall(r'(?:Measure\(|^    \("\w+",)\s*"(\w+)"', source, re.MULTILINE)
    assert len(names) > 90
    missing = [name for name in names if not re.search(rf"`{name}(\{{\w+\}})?`", DOCUMENTS)]
    assert not missing


def test_every_error_code_is_documented() -> None:
    assert errors.StorageError.code in codes(GatewayError)
    missing = [code for code in codes(GatewayError) if f"`{code}`" not in DOCUMENTS]
    assert not missing


def test_every_command_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"^    ([a-z-]+)(?: |$)", capsys.readouterr().out, re.MULTILINE)
    assert len(commands) >= 9
    missing = [command for command in commands if f"`{command}`" not in DOCUMENTS]
    assert not missing


def test_the_example_of_the_engine_page_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs/engine.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (told,) = re.findall(r"```\n(.*?)```", page.partition(code)[2].partition("```")[2], re.DOTALL)
    exec(compile(code, "docs/engine.md", "exec"), {})
    assert capsys.readouterr().out == told


def test_the_engine_chapter_says_what_happens(capsys: pytest.CaptureFixture[str]) -> None:
    chapter = (ROOT / "docs" / "engine-api.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", chapter, re.DOTALL)
    assert len(code.strip().splitlines()) <= 12
    exec(compile(code, "engine-api.md", "exec"), {})
    first, then = capsys.readouterr().out.splitlines()
    assert "urn:hall" in first
    assert "urn:eve" not in first
    assert then.startswith("1 [")
    added, removed = then.split("] [")
    assert "urn:eve" in added
    assert "urn:hall" in removed
    assert "urn:eve" not in removed
