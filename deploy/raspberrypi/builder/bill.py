"""Bills of materials (SBOM): what a thing is made of, as CycloneDX JSON; equal parts, equal bytes.

Source: CycloneDX 1.5 (ECMA-424), JSON; package URLs as the purl specification has them.
"""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.message import Message
from email.parser import HeaderParser
from urllib.parse import quote

Component = Mapping[str, object]


def bill(kind: str, name: str, version: str, components: Iterable[Component], epoch: int) -> str:
    """The document; `kind` is CycloneDX's of the whole ("application"), components in any order."""
    once = {str(each["purl"]): each for each in components}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).isoformat().replace("+00:00", "Z"),
            "component": {"type": kind, "name": name, "version": version},
        },
        "components": [once[purl] for purl in sorted(once)],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def component(name: str, version: str, purl: str, licence: str = "") -> dict[str, object]:
    """A library; `licence` is an SPDX expression, "" where nobody says one."""
    named: dict[str, object] = {"type": "library", "name": name, "version": version}
    if licence:
        named["licenses"] = [{"expression": licence}]
    return named | {"purl": purl, "bom-ref": purl}


def python_component(metadata: str) -> dict[str, object]:
    """The component that the METADATA of an installed Python package tells."""
    said: Message = HeaderParser().parsestr(metadata)
    name, version = str(said["Name"]), str(said["Version"])
    place = f"{re.sub(r'[-_.]+', '-', name).lower()}@{quote(version, safe='')}"
    return component(name, version, f"pkg:pypi/{place}", said.get("License-Expression", ""))
