"""The sizes of the house: few doors a floor, small rooms, words that stand alone."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.paths import ROOT

PRODUCT = ("adapters", "gateway", "jsap", "ontologies", "spark_batch")
BESIDE = ("bench", "deploy")
EVERYTHING = (*PRODUCT, *BESIDE, "tests")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"]
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def package_trees(package: str) -> dict[Path, ast.Module]:
    return {
        path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / package).rglob("*.py"))
    }


def trees(*packages: str) -> dict[Path, ast.Module]:
    return {path: tree for each in packages for path, tree in package_trees(each).items()}


def functions(*packages: str) -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, tree in trees(*packages).items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def test_the_top_of_the_gateway_is_seen_at_a_glance() -> None:
    modules = list((ROOT / "gateway").glob("*.py"))
    folders = list((ROOT / "gateway").glob("*/__init__.py"))
    assert {module.stem for module in modules} == {"__init__", "__main__", "errors", "profiles"}
    assert len(folders) <= 24


def test_no_folder_has_more_than_22_modules() -> None:
    crowded = {
        str(folder.relative_to(ROOT)): count
        for package in PRODUCT
        for folder in [ROOT / package, *(ROOT / package).rglob("*/")]
        if (count := len(list(folder.glob("*.py")))) > 22
    }
    assert not crowded


def test_layers_are_few_and_leave_nobody_out() -> None:
    layered = [each for each in CONTRACTS if "containers" in each]
    for container in ("gateway", "gateway.gates", "gateway.engine", "adapters", "spark_batch"):
        (contract,) = (each for each in layered if each["containers"] == [container])
        assert contract["exhaustive"], container
    (gateway,) = (each for each in layered if each["containers"] == ["gateway"])
    assert len(gateway["layers"]) <= 16
    assert not [each["name"] for each in CONTRACTS if "ignore_imports" in each]


def test_no_module_knows_more_than_25_others() -> None:
    modules = {
        ".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in trees(*PRODUCT)
    }
    for path, tree in trees(*PRODUCT).items():
        known = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = {f"{node.module}.{each.name}" for each in node.names}
                known |= (names & modules) or ({node.module} & modules)
        assert len(known) <= 25, path


def test_constructors_take_at_most_8_parameters() -> None:
    for path, node in functions(*PRODUCT, *BESIDE):
        if node.name == "__init__":
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            assert len(given) - 1 <= 8, (path, node.lineno)


def test_functions_and_modules_are_short() -> None:
    for path, node in functions(*PRODUCT, *BESIDE):
        assert (node.end_lineno or 0) - node.lineno < 40, (path, node.name)
    for path in trees(*PRODUCT, *BESIDE):
        assert len((ROOT / path).read_text(encoding="utf-8").splitlines()) <= 500, path


def test_no_function_takes_just_anything() -> None:
    for path, node in functions(*PRODUCT, *BESIDE):
        annotation = node.args.kwarg.annotation if node.args.kwarg else None
        assert not (isinstance(annotation, ast.Name) and annotation.id == "Any"), (path, node.name)


def test_a_dataset_is_one_thing() -> None:
    lines = [
        line
        for path in trees(*PRODUCT)
        for line in (ROOT / path).read_text(encoding="utf-8").splitlines()
        if "named_graphs" in line
    ]
    assert len(lines) <= 35


@pytest.mark.parametrize("words", [r"\bseed \d{3}\b", r"\bissue \d", r"(?<!docs/)\bengine\.md"])
def test_sources_are_such_as_a_reader_can_open(words: str) -> None:
    for path in (each for package in EVERYTHING for each in (ROOT / package).rglob("*.py")):
        if path.name != "test_house.py":
            found = re.search(words, path.read_text(encoding="utf-8"))
            assert not found, (path, found)


def test_docstrings_stand_alone() -> None:
    for path, tree in trees(*PRODUCT, *BESIDE).items():
        for node in ast.walk(tree):
            text = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
            if text is not None:
                assert not re.match(r"(Of|Those|It|Its)\b", text), (path, text[:60])
                assert not re.fullmatch(r"See \S+\.?", text.strip()), (path, text)
                assert not re.search(r"[Ww]ay of the data: (none\b|beside it\.)", text), (
                    path,
                    text,
                )
