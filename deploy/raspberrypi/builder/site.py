"""The folder of packages on the device: dependencies, and the product; nothing of no use there."""

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.native import strip

PACKAGES = ("adapters", "gateway", "jsap", "ontologies", "spark_batch")
"""What the wheel has; `spark_batch` tells there what `archive` needs."""

_PAGE = Path("gateway", "dashboard", "static", "index.html")
_WEB = Path("gateway", "dashboard", "web")
_NOT_SHIPPED = shutil.ignore_patterns("__pycache__", "*.pyc")

_AWS_SERVICES = frozenset({"s3", "sts", "sso", "sso-oidc", "signin"})
"""What `[shipping] to = "s3://..."` calls: the store itself, and how AWS gives credentials.

botocore describes some 400 other services, a sixth of all bytes of the package."""


_SOURCES = frozenset({".pyx", ".pxd", ".pxi", ".c", ".h", ".pyi"})
"""What native modules were made of, and what type checkers read."""

_VOCABULARIES = ("dash.*", "schema.*", "*.ttl")
"""Those that pyshacl has with it for shapes that import them, as ours do not, and each twice."""

_UNCALLED = ("rdflib/contrib", "rdflib/tools", "wcwidth/table_grapheme_overrides")
"""Clients of other stores, commands, and what single terminals draw wider than others: in folders
of which but `__init__.py` stays."""

_LEXERS = frozenset({"__init__.py", "_mapping.py", "python.py"})
"""Languages that pygments colours: rich shows lines of Python in a traceback, and no others."""


def add_product(checkout: Path, site: Path) -> None:
    """Copy the product and its built page; what is installed names itself. Raises BuildError."""
    if not (checkout / _PAGE).is_file():
        raise BuildError(f"there is no {_PAGE}", "make dashboard")
    for name in PACKAGES:
        shutil.copytree(checkout / name, site / name, ignore=_NOT_SHIPPED)
    shutil.rmtree(site / _WEB, ignore_errors=True)
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    named.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (named / "METADATA").write_text(head, encoding="utf-8")


def slim(site: Path) -> None:
    """Take away what never runs on the device: commands, tests, sources, symbols, the uncalled."""
    for name in ("bin", "share", "include"):
        shutil.rmtree(site / name, ignore_errors=True)
    for cache in [*site.rglob("__pycache__"), *_tests(site)]:
        shutil.rmtree(cache, ignore_errors=True)
    services = site / "botocore" / "data"
    for folder in services.iterdir() if services.is_dir() else ():
        if folder.is_dir() and folder.name not in _AWS_SERVICES:
            shutil.rmtree(folder)
    for path in [*_needless(site)]:
        path.unlink(missing_ok=True)
    for path in site.rglob("*.so*"):
        strip(path)


def _needless(site: Path) -> Iterator[Path]:
    """Files that nothing opens on the device."""
    yield from (path for path in site.rglob("*") if path.suffix in _SOURCES)
    # What pip notes of the commands that it wrote has the path of the interpreter that builds.
    yield from site.glob("*.dist-info/RECORD")
    for pattern in _VOCABULARIES:
        yield from (site / "pyshacl" / "assets").glob(pattern)
    for folder in _UNCALLED:
        files = (path for path in (site / folder).rglob("*") if path.is_file())
        yield from (path for path in files if path != site / folder / "__init__.py")
    lexers = (site / "pygments" / "lexers").glob("*.py")
    yield from (path for path in lexers if path.name not in _LEXERS)


def _tests(site: Path) -> list[Path]:
    """Folders `tests` at the top of a package; deeper ones may belong to what runs."""
    return [path for path in site.glob("*/tests") if (path / "__init__.py").exists()]
