"""What an image is made of, for who has to know: every package in it, Debian's and ours."""

from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path
from urllib.parse import quote

from deploy.raspberrypi.builder.bill import Component, bill, component, python_component
from deploy.raspberrypi.builder.image.flavours import SUITE


def bill_of_materials(root: Path, name: str, version: str, epoch: int) -> str:
    """CycloneDX JSON of Debian's packages and of the Python packages inside ours, in order."""
    return bill("operating-system", name, version, [*_debian(root), *_python(root)], epoch)


def _debian(root: Path) -> Iterator[Component]:
    """As dpkg has them (deb822), installed ones alone."""
    text = (root / "var/lib/dpkg/status").read_text(encoding="utf-8")
    for paragraph in text.split("\n\n"):
        said = HeaderParser().parsestr(paragraph)
        if said["Package"] and said["Status"] == "install ok installed":
            package, version = said["Package"], said["Version"]
            place = f"{quote(package)}@{quote(version, safe='')}"
            where = f"arch={said['Architecture']}&distro=debian-{SUITE}"
            yield component(package, version, f"pkg:deb/debian/{place}?{where}")


def _python(root: Path) -> Iterator[Component]:
    for path in root.glob("usr/lib/sosa-gateway/venv/lib/*/site-packages/*.dist-info"):
        yield python_component((path / "METADATA").read_text(encoding="utf-8"))
