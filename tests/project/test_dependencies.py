"""What is imported is declared and what is declared is imported, by the product and its extras."""

import ast
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OWN = {"adapters", "bench", "deploy", "gateway", "jsap", "ontologies", "spark_batch", "tests"}

IMPORTED_BY_NAME = {
    "try": {"pyshacl", "rdflib"},
    "modbus": {"pymodbus", "pyserial"},
    "ship": {"s3fs", "sshfs"},
    "federation": {"eclipse-zenoh"},
}
"""Loaded when they are wanted, by `import_module` or by fsspec."""

NOT_IMPORTED = {
    "spark": {"pandas"},  # pyspark asks for it where rows become frames
    "dev": {
        *("flask", "flask-cors"),  # moto's server
        "ipykernel",  # nbclient starts it
        *("import-linter", "mkdocs-material", "mypy", "ruff", "pytest-timeout", "pytest-xdist"),
        *("types-jsonschema", "types-protobuf"),
        "setuptools",  # deploy.release calls it in a process of its own
        "sosa-gateway",
    },
}
"""Needed all the same."""

ELSEWHERE = {
    *("bytewax", "homeassistant", "pysparkplug", "sepy"),
    *("frost_sta_client", "geojson", "stapy"),
}
"""Imported by programs of other makes, which have interpreters of their own."""


def declared(extra: str = "") -> set[str]:
    listed = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    return {re.match(r"[A-Za-z0-9_.-]+", each)[0].lower().replace("_", "-") for each in listed}  # type: ignore[index]


def imported(*packages: str) -> set[str]:
    """The distributions whose modules the files of our packages import."""
    paths = (path for package in packages for path in (ROOT / package).rglob("*.py"))
    return set().union(*map(imported_of, paths))


def imported_of(path: Path) -> set[str]:
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
    return {_distribution(module) for module in modules} - {""}


def _distribution(module: str) -> str:
    top = module.partition(".")[0]
    if top in OWN or top in sys.stdlib_module_names or top in ELSEWHERE:
        return ""
    if module.startswith("google.protobuf"):
        return "protobuf"
    found = _packages().get(top, [top])
    return found[0].lower().replace("_", "-")


@cache
def _packages() -> Mapping[str, list[str]]:
    """Which distributions have a package: asked of all of them, when a test wants it."""
    return packages_distributions()


def test_the_device_gets_what_its_packages_import() -> None:
    others = {"fsspec"} | declared("history")
    assert imported("gateway", "adapters", "jsap", "ontologies") - others == declared()


def test_what_reads_archives_is_in_its_extra_and_in_two_rooms() -> None:
    rooms = imported("gateway/journal/past", "jsap/shapes") - declared()
    assert rooms == declared("history")
    elsewhere = [
        path
        for name in ("gateway", "adapters", "jsap", "ontologies")
        for path in (ROOT / name).rglob("*.py")
        if not {"past", "shapes"} & set(path.parts)
    ]
    assert not declared("history") & set().union(*map(imported_of, elsewhere))


def test_the_archive_gets_what_it_imports() -> None:
    ours = imported("spark_batch", "jsap/shapes") - declared() - declared("java")
    assert ours - imported_for_benchmarks() == declared("spark") - NOT_IMPORTED["spark"]


def imported_for_benchmarks() -> set[str]:
    return imported("spark_batch/bench") & (declared("dev") | {"duckdb"})


@pytest.mark.parametrize("extra", ["try", "ship", "modbus", "federation"])
def test_what_is_loaded_by_name_is_in_its_extra(extra: str) -> None:
    assert declared(extra) - {"fsspec"} == IMPORTED_BY_NAME[extra]


def test_developers_get_what_tests_and_benchmarks_import() -> None:
    others = set().union(
        *map(declared, ("", "spark", "history", "java", "modbus", "ship", "try", "federation"))
    )
    needed = imported("bench", "deploy", "tests") | imported_for_benchmarks()
    assert needed - others == declared("dev") - NOT_IMPORTED["dev"]


def subclassed(*packages: str) -> set[str]:
    """The distributions that have a class which one of ours derives from."""
    modules = set()
    for package in packages:
        for path in (ROOT / package).rglob("*.py"):
            modules.update(_modules_of_bases(ast.parse(path.read_text(encoding="utf-8"))))
    return {_distribution(module) for module in modules} - {""}


def _modules_of_bases(tree: ast.Module) -> set[str]:
    sources: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            sources.update(
                {(each.asname or each.name).split(".")[0]: each.name for each in node.names}
            )
        elif isinstance(node, ast.ImportFrom) and node.module:
            sources.update({each.asname or each.name: node.module for each in node.names})
    bases = [
        base for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for base in node.bases
    ]
    names = {ast.unparse(base).partition("[")[0].partition(".")[0] for base in bases}
    return {sources[name] for name in names & sources.keys()}


def test_what_we_subclass_or_replace_has_an_upper_bound() -> None:
    derived = subclassed("gateway", "adapters", "jsap")
    assert {"amqtt", "paho-mqtt", "uvicorn", "websockets"} <= derived
    for asked in map(Requirement, PROJECT["dependencies"]):
        if asked.name in derived | {"fastapi", "h11", "starlette"}:
            assert {each.operator for each in asked.specifier} & {"<", "=="}, asked
