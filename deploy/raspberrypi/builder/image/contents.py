"""What an image is made of, for who has to know: a bill of materials (SBOM) of every package in it.

Source: CycloneDX 1.5 (ECMA-424), JSON; package URLs as the purl specification has `deb` and `pypi`.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from email.parser import HeaderParser
from pathlib import Path
from urllib.parse import quote

from deploy.raspberrypi.builder.image.flavours import SUITE


def bill_of_materials(root: Path, name: str, version: str, epoch: int) -> str:
    """CycloneDX JSON of Debian's packages and of the Python packages inside ours, in order."""
    listed = sorted([*_debian(root), *_python(root)], key=lambda each: each["purl"])
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).isoformat().replace("+00:00", "Z"),
            "component": {"type": "operating-system", "name": name, "version": version},
        },
        "components": listed,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _debian(root: Path) -> Iterator[dict[str, str]]:
    """As dpkg has them (deb822), installed ones alone."""
    text = (root / "var/lib/dpkg/status").read_text(encoding="utf-8")
    for paragraph in text.split("\n\n"):
        said = HeaderParser().parsestr(paragraph)
        if said["Package"] and said["Status"] == "install ok installed":
            package, version = said["Package"], said["Version"]
            place = f"{quote(package)}@{quote(version, safe='')}"
            where = f"arch={said['Architecture']}&distro=debian-{SUITE}"
            yield _component(package, version, f"pkg:deb/debian/{place}?{where}")


def _python(root: Path) -> Iterator[dict[str, str]]:
    for path in sorted(root.glob("usr/lib/sosa-gateway/venv/lib/*/site-packages/*.dist-info")):
        said = HeaderParser().parsestr((path / "METADATA").read_text(encoding="utf-8"))
        package, version = said["Name"], said["Version"]
        name = quote(package.lower().replace("_", "-"))
        yield _component(package, version, f"pkg:pypi/{name}@{quote(version, safe='')}")


def _component(name: str, version: str, purl: str) -> dict[str, str]:
    return {"type": "library", "name": name, "version": version, "purl": purl, "bom-ref": purl}
