"""The file by which Raspberry Pi Imager offers an image, and asks for name, Wi-Fi and keys.

An image that is opened by itself gets no questions: Imager cannot know who would read the answers.
Here it is told that they are read from rpi-preseed.toml (`init_format`).
Source: "Using the Raspberry Pi Imager JSON Schema" of rpi-imager, doc/schema-notes.md, 2026.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from deploy.raspberrypi.builder.image.flavours import Flavour


@dataclass(frozen=True, slots=True)
class Packed:
    """An image and its compressed file: bytes and SHA-256 (hexadecimal) of both."""

    size: int
    sha256: str
    packed_size: int
    packed_sha256: str


def imager_manifest(flavour: Flavour, version: str, url: str, packed: Packed, epoch: int) -> str:
    """JSON; `url` is where the compressed image is: file:///FULL/PATH or an address of the web."""
    entry = {
        "name": f"sosa-gateway {version}",
        "description": "IoT edge gateway: MQTT readings become SOSA, SPARQL tells what changed",
        "icon": "",
        "url": url,
        "extract_size": packed.size,
        "extract_sha256": packed.sha256,
        "image_download_size": packed.packed_size,
        "image_download_sha256": packed.packed_sha256,
        "release_date": datetime.fromtimestamp(epoch, UTC).date().isoformat(),
        "init_format": "rpi-preseed",
        "architecture": "armv8",
        "devices": list(flavour.models),
    }
    return json.dumps({"os_list": [entry]}, indent=1) + "\n"
