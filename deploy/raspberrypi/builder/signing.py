"""Releases signed by a key that is kept elsewhere: SHA256SUMS, and so every package it lists.

The private key is a file of whoever releases, never in these sources; the public one goes into the
package, so that a device takes later releases of the same hand alone. Source: RFC 8032 (Ed25519),
RFC 8410 (its keys as PEM).
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)

from deploy.raspberrypi.builder.errors import BuildError

SUMS, SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"


def private_key(file: Path) -> Ed25519PrivateKey:
    """The key of a PEM file without a password. Raises BuildError."""
    try:
        key = load_pem_private_key(file.read_bytes(), password=None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise BuildError(f"no key can be read from {file}: {error}", _MAKE) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise BuildError(f"{file} has a key of another kind than Ed25519", _MAKE)
    return key


_MAKE = "make one: openssl genpkey -algorithm ed25519 -out release.key"


def public_pem(key: Ed25519PrivateKey) -> bytes:
    """What verifies its signatures, as PEM."""
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def seal(output: Path, made: Iterable[Path], key: Ed25519PrivateKey | None) -> None:
    """Write the sums of what was made now and, with a key, their signature.

    Lines of before stay while their files are there; where a key signs, if it had signed them as
    well. So nothing is signed because it lay in the folder.
    """
    file = output / SUMS
    is_kept = file.exists() and (key is None or _is_signed(output, key))
    lines = file.read_text(encoding="utf-8").splitlines() if is_kept else []
    sums = {name: total for total, _, name in (line.partition("  ") for line in lines)}
    sums = {name: total for name, total in sums.items() if (output / name).exists()}
    sums |= {path.name: sha256(path) for path in made}
    text = "".join(f"{total}  {name}\n" for name, total in sorted(sums.items()))
    file.write_text(text, encoding="utf-8")
    (output / SIGNATURE).unlink(missing_ok=True)
    if key is not None:
        sign(output, key)


def sign(output: Path, key: Ed25519PrivateKey) -> None:
    """Put the signature of the sums beside them."""
    (output / SIGNATURE).write_bytes(key.sign((output / SUMS).read_bytes()))


def sha256(path: Path) -> str:
    """Hexadecimal, as sha256sum(1) tells it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_signed(output: Path, key: Ed25519PrivateKey) -> bool:
    try:
        signature = (output / SIGNATURE).read_bytes()
        key.public_key().verify(signature, (output / SUMS).read_bytes())
    except (FileNotFoundError, InvalidSignature):
        return False
    return True
