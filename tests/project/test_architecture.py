"""ARCHITECTURE, README and the pages say what is there: folders, layers, files, headings."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT

ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"]
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "deploy").rglob("*.md"),
    *(ROOT / "ontologies").glob("*.md"),
]
PLACES = ("", "gateway")
"""Where a path that a document names may begin."""

PACKAGES = ("adapters", "bench", "deploy", "gateway", "jsap", "ontologies", "spark_batch", "tests")
FOLDERS = {"deploy", "docs", *PACKAGES} | {
    path.parent.name for path in (ROOT / "gateway").glob("*/__init__.py")
}
"""Where a path begins."""

TOPICS = {"sparql", "homeassistant", "sensorthings"}
"""Folders whose names begin topics too, and cases of a device family."""

CITED = r'\b(docs/[\w/-]+\.md|(?:README|ARCHITECTURE|THREATS)\.md), "([^"]+)"'
"""A page and, between quotation marks, one of its chapters or sentences."""


def layers(container: str) -> list[set[str]]:
    (found,) = (
        contract["layers"] for contract in CONTRACTS if contract.get("containers") == [container]
    )
    return [set(layer.split(" | ")) for layer in found]


def told_layers(name: str) -> list[set[str]]:
    """From the block under "Layers": `name: a → b | c` with lines that go on."""
    block = ARCHITECTURE.partition("## Layers")[2].partition("```\n")[2].partition("```")[0]
    text = re.search(rf"^{name}: (.*?)(?=^\w+:|\Z)", block, re.MULTILINE | re.DOTALL)
    assert text is not None
    return [set(re.split(r"\s*\|\s*", layer.strip())) for layer in text[1].split("→")]


@pytest.mark.parametrize(
    ("name", "container"),
    [
        ("gateway", "gateway"),
        ("gates", "gateway.gates"),
        ("engine", "gateway.engine"),
        ("adapters", "adapters"),
        ("spark_batch", "spark_batch"),
    ],
)
def test_the_layers_are_those_that_are_checked(name: str, container: str) -> None:
    assert told_layers(name) == layers(container)


def rooms() -> Iterator[str]:
    for path in sorted((ROOT / "gateway").rglob("__init__.py")):
        parts = path.parent.relative_to(ROOT).parts
        deep = parts[1:2] in {("gates",), ("engine",), ("admin",)}
        if len(parts) == 2 or (len(parts) == 3 and deep):
            yield "/".join(parts)
    for path in sorted((ROOT / "adapters").glob("*/__init__.py")):
        yield "/".join(path.parent.relative_to(ROOT).parts)


def test_every_room_has_a_line_and_every_line_a_room() -> None:
    table = ARCHITECTURE.partition("## Rooms")[2].partition("\n## ")[0]
    first_cells = re.findall(r"^\| (`[^|]*`) \|", table, re.MULTILINE)
    told = {name for cell in first_cells for name in re.findall(r"`([\w/]+)`", cell)}
    assert told - {"jsap", "ontologies", "spark_batch", "bench", "deploy"} == set(rooms())
    assert all((ROOT / name).is_dir() for name in told)


@pytest.mark.parametrize(("name", "most"), [("README.md", 200), ("ARCHITECTURE.md", 150)])
def test_a_person_reads_it_in_minutes(name: str, most: int) -> None:
    assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= most


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    unlinked = [
        path.name for path in (ROOT / "docs").glob("*.md") if f"](docs/{path.name})" not in readme
    ]
    assert not unlinked


def anchors(path: Path) -> set[str]:
    """Of a page's headings, as hosts of repositories make them."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    plain = (re.sub(r"[`*]|\[|\]\([^)]*\)", "", head).strip().lower() for head in heads)
    return {re.sub(r"[^\w\- ]", "", head).replace(" ", "-") for head in plain}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        aim = (path.parent / name).resolve() if name else path
        assert aim.exists(), target
        if anchor:
            assert anchor in anchors(aim), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_a_document_names_are_there(path: Path) -> None:
    if path.name == "CHANGELOG.md":  # of its time
        return
    spans = re.findall(r"`([^`\s]+)`", path.read_text(encoding="utf-8"))
    named = [name for name in spans if is_path(name)]
    assert not [name for name in named if not any((ROOT / p / name).exists() for p in PLACES)]


def is_path(name: str) -> bool:
    """Whether it is of a module, or of something in one of our folders."""
    if name.endswith(".py"):
        return name != "measures.py"  # one in each room that counts
    first, _, rest = name.partition("/")
    return first in FOLDERS - TOPICS and re.fullmatch(r"[\w./-]+", rest) is not None


def test_functions_that_the_table_names_are_there() -> None:
    table = ARCHITECTURE.partition("## Where is")[2].partition("\n## ")[0]
    named = re.findall(r"`([\w/]+\.py)` \(`(\w+)`\)", table)
    assert len(named) >= 2
    for file, function in named:
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8")
    assert len(re.findall(r"^\| (?!\|)\w", table, re.MULTILINE)) >= 14


@pytest.mark.parametrize("package", PACKAGES)
def test_pages_and_chapters_that_the_code_cites_are_there(package: str) -> None:
    for path in (ROOT / package).rglob("*.py"):
        text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
        for name in re.findall(r"\bdocs/[\w/-]+\.md", text):
            assert (ROOT / name).is_file(), f"{path}: {name}"
        for name, chapter in re.findall(CITED, text):
            page = (ROOT / name).read_text(encoding="utf-8")
            headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
            is_sentence = len(chapter.split()) > 5 and chapter in re.sub(
                r"\s+", " ", page.replace("`", "")
            )
            assert is_sentence or chapter in headings, f"{path}: {name}, {chapter}"
