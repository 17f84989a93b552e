"""What a release is made of: the Python packages inside its packages, and what is in its page."""

import base64
import io
import json
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from deploy.raspberrypi.builder.bill import Component, bill, component, python_component
from deploy.raspberrypi.builder.errors import BuildError

_LOCK = Path("gateway", "dashboard", "web", "package-lock.json")
_ALGORITHMS = {"sha512": "SHA-512", "sha384": "SHA-384", "sha256": "SHA-256", "sha1": "SHA-1"}
"""Those of Subresource Integrity, as npm writes them, and what CycloneDX calls them."""


def release_bill(sources: Path, packages: Sequence[Path], version: str, epoch: int) -> str:
    """CycloneDX JSON of Debian packages, and of the page whose sources lie in the checkout.

    Raises BuildError for what is no package.
    """
    python = [each for package in packages for each in _python(package)]
    ours = [each for each in python if each["name"] != "sosa-gateway"]
    lock = json.loads((sources / _LOCK).read_text(encoding="utf-8"))
    return bill("application", "sosa-gateway", version, [*ours, *page_components(lock)], epoch)


def page_components(lock: Mapping[str, Any]) -> Iterator[Component]:
    """What npm's lock file (version 3) has for the page itself, not for building it."""
    for path, said in lock["packages"].items():
        if path and not said.get("dev"):
            name = path.rpartition("node_modules/")[2]
            place = f"{quote(name, safe='/')}@{quote(said['version'], safe='')}"
            found = component(name, said["version"], f"pkg:npm/{place}", said.get("license", ""))
            yield found | {"hashes": [_hash(each) for each in said["integrity"].split()]}


def _hash(integrity: str) -> Mapping[str, str]:
    """As Subresource Integrity (W3C, section 3.1) has it, to hexadecimal."""
    algorithm, _, digest = integrity.partition("-")
    return {"alg": _ALGORITHMS[algorithm], "content": base64.b64decode(digest).hex()}


def _python(package: Path) -> Iterator[Component]:
    done = subprocess.run(
        ("dpkg-deb", "--fsys-tarfile", str(package)), check=False, capture_output=True
    )
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip()
        raise BuildError(f"{package.name}: {told}", "build it again")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
        for member in tar:
            content = tar.extractfile(member) if _is_metadata(member.name) else None
            if content is not None:
                yield python_component(content.read().decode("utf-8"))


def _is_metadata(name: str) -> bool:
    return "/site-packages/" in name and name.endswith(".dist-info/METADATA")
