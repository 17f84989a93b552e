"""Secrets in a file that anybody who takes the card out can read: found, and wiped.

A card's controller may keep old blocks where no one but a laboratory reads them; what the file
system shows has no secret afterwards.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from gateway.appliance.toml_text import toml_of
from gateway.runtime.durable_files import sync_folder, write_durably

_SECRET = re.compile(r"pas+|pw|wor[dt]|secret|psk|token$|(?<!ssh_)(?<!authorized_)key$|code", re.I)
"""Also as it is mistyped, or abbreviated: what no setting is called stays in the file too."""

_LOGIN = re.compile(r"//[^/@\s]*:[^/@\s]*@")
"""A password in an address."""

_HEAD = """\
# Taken over by the device, which wiped the secrets. To change something, put a new gateway.toml
# here: it needs only what is to be different, and is taken at the next start.
"""


def without_secrets(document: Mapping[str, object]) -> dict[str, object]:
    """The same with "" in place of passwords, keys and codes, at any depth; files stay named."""
    return {name: _wiped(name, value) for name, value in document.items()}


def _wiped(name: str, value: object) -> object:
    if isinstance(value, dict):
        return without_secrets(value)
    if isinstance(value, list):
        return [_wiped(name, each) for each in value]
    if not isinstance(value, str) or name.endswith("_file"):
        return value
    return "" if _SECRET.search(name) or _LOGIN.search(value) else value


def put_away(file: Path, document: Mapping[str, object]) -> None:
    """Leave NAME.done without secrets in place of the file, whose bytes are overwritten first.

    A power cut leaves the file, its overwritten bytes, or what is wanted. Raises OSError.
    """
    text = (_HEAD + toml_of(without_secrets(document))).encode()
    write_durably(file.with_name(f"{file.name}.done"), text, 0o644)
    with file.open("r+b") as stream:
        stream.write(b"#" * file.stat().st_size)
        stream.flush()
        os.fsync(stream.fileno())
    file.unlink()
    sync_folder(file.parent)
