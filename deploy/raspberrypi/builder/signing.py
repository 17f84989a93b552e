"""Releases signed by a key that is kept elsewhere: SHA256SUMS, and so every package it lists.

The private key is a file of whoever releases, never in these sources; the public one goes into the
package, so that a device takes later releases of the same hand alone. Source: RFC 8032 (Ed25519),
RFC 8410 (its keys as PEM).
"""

from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
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


def sign(output: Path, key: Ed25519PrivateKey) -> None:
    """Put the signature of the sums beside them."""
    (output / SIGNATURE).write_bytes(key.sign((output / SUMS).read_bytes()))
