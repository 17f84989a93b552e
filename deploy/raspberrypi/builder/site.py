"""The folder of packages on the device: dependencies, and the product; nothing of no use there."""

import shutil
import tomllib
from pathlib import Path

from deploy.raspberrypi.builder.errors import BuildError

PACKAGES = ("adapters", "gateway", "jsap", "ontologies", "spark_batch")
"""What the wheel has; `spark_batch` tells there what `archive` needs."""

_PAGE = Path("gateway", "dashboard", "static", "index.html")
_WEB = Path("gateway", "dashboard", "web")
_NOT_SHIPPED = shutil.ignore_patterns("__pycache__", "*.pyc")

_AWS_SERVICES = frozenset({"s3", "sts", "sso", "sso-oidc", "signin"})
"""What `[shipping] to = "s3://..."` calls: the store itself, and how AWS gives credentials.

botocore describes some 400 other services, a sixth of all bytes of the package."""


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
    """Take away what never runs on the device: commands, tests, AWS services that nobody calls."""
    for name in ("bin", "share", "include"):
        shutil.rmtree(site / name, ignore_errors=True)
    for cache in [*site.rglob("__pycache__"), *_tests(site)]:
        shutil.rmtree(cache, ignore_errors=True)
    services = site / "botocore" / "data"
    for folder in services.iterdir() if services.is_dir() else ():
        if folder.is_dir() and folder.name not in _AWS_SERVICES:
            shutil.rmtree(folder)


def _tests(site: Path) -> list[Path]:
    """Folders `tests` at the top of a package; deeper ones may belong to what runs."""
    return [path for path in site.glob("*/tests") if (path / "__init__.py").exists()]
