"""The pages of the families: what they tell to type is accepted, and no format is left out."""

import json
import re
from pathlib import Path

import pytest

from adapters.families import FORMATS
from gateway.config.settings import Config
from gateway.engine import Engine
from gateway.ingest.mappings import MappingTable
from gateway.profiles import Profiles
from jsap.extended.quads import mapping_quads
from jsap.profile import load_profile
from tests.kit.pages import OF_NO_FAMILY, family_pages, properties_page
from tests.paths import ROOT

PAGES = sorted((ROOT / "docs" / "families").glob("*.md"))
INDEX = next(page for page in PAGES if page.name == "README.md").read_text()


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def refused(updates: list[str]) -> tuple[str, ...]:
    """The errors of the mappings that these UPDATEs write; at least one is accepted."""
    engine = Engine.open()
    for text in updates:
        engine.update(text)
    table = MappingTable()
    table.learn(engine.subscribe(Profiles.load(Config().jsap.profiles).query_text("MAPPINGS")))
    engine.close()
    assert table.registry.topic_filters
    return tuple(map(str, table.errors))


def as_update(text: str, folder: Path) -> str:
    """A block of `extended.mappings` as an UPDATE, by way of a profile file."""
    path = folder / "page.jsap"
    mappings = json.loads(f"[{text}]")
    document = {"host": "x", "namespaces": {}, "updates": {}, "queries": {}}
    path.write_text(json.dumps({**document, "extended": {"mappings": mappings}}))
    quads = mapping_quads(load_profile(path))
    triples = " . ".join(f"{q.subject} {q.predicate} {q.object}" for q in quads)
    return f"INSERT DATA {{ GRAPH {quads[0].graph_name} {{ {triples} }} }}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_example_of_a_page_is_a_mapping(page: Path, tmp_path: Path) -> None:
    updates = blocks(page, "sparql") + [as_update(b, tmp_path) for b in blocks(page, "json")]
    if page.name == "README.md":
        assert not updates
        return
    assert updates
    assert refused(updates) == ()


def test_every_format_has_its_page() -> None:
    assert [name for name in FORMATS if not re.search(rf"\b{name}\b", INDEX)] == []


def test_every_page_is_in_the_index() -> None:
    named = set(re.findall(r"\]\(([\w-]+\.md)\)", INDEX))
    assert named == {page.name for page in PAGES} - {"README.md"}


def test_the_tables_of_the_pages_are_those_of_the_cases() -> None:
    pages = dict(family_pages())
    assert set(pages) == {page for page in PAGES if page.stem not in OF_NO_FAMILY}
    for page, text in pages.items():
        assert page.read_text(encoding="utf-8") == text, "python -m tests.kit.pages writes it"


def test_the_page_of_properties_is_that_of_the_ontology() -> None:
    page = ROOT / "docs" / "properties.md"
    assert page.read_text(encoding="utf-8") == properties_page(), "python -m tests.kit.pages"
