"""examples/*.ipynb, each from top to bottom in a kernel of its own, before a gateway that runs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.blocks import Ports, gateway_process
from tests.kit.gateways import LOOPBACK, free_port
from tests.kit.notebooks import NOTEBOOKS, run
from tests.paths import ROOT

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("notebooks")]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of one gateway for all: each notebook has names of its own."""
    ports = Ports(free_port(), free_port(), free_port())
    reasoning = {"SOSA_GATEWAY_REASONING__GRAPHS": '["default"]'}
    with gateway_process(tmp_path_factory.mktemp("gateway"), ports, settings=reasoning):
        yield f"http://{LOOPBACK}:{ports.http}"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("first-steps", ["urn:first:kitchen", "now: 1 warm", "gone: ['<urn:first:kitchen>']"]),
        ("subscription", ["urn:my:eve"]),
        ("reasoning", ["asserted: []", "derived: ['urn:s:1']", "now: ['urn:s:1', 'urn:s:2']"]),
        ("windows", ["[20.0, 21.0, 22.0, 24.0]"]),
    ],
)
def test_a_notebook_says_what_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, name: str, told: list[str]
) -> None:
    monkeypatch.setenv("SOSA_GATEWAY_URL", url)
    output = run(name, tmp_path)
    assert not [words for words in told if words not in output], output


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_has_no_output_and_begins_with_what_it_is(name: str) -> None:
    cells = json.loads((ROOT / "examples" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    assert cells[0]["cell_type"] == "markdown"
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert not [cell for cell in code if cell["outputs"] or cell["execution_count"]]
