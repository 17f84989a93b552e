"""A stream that only who knows a passphrase can read, and that nobody can change or cut unnoticed.

    head: magic, salt, nonce prefix | chunks of 64 KiB, each sealed, the last one marked as such

Sources: RFC 9106 (Argon2id, the second recommended option, with one lane), RFC 8439
(ChaCha20-Poly1305); Hoang, Reyhanitabar, Rogaway, Vizár, "Online Authenticated-Encryption and its
Nonce-Reuse Misuse-Resistance", 2015, section 7 (STREAM).
"""

import os
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from argon2.low_level import Type, hash_secret_raw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from gateway.errors import BadRequestError

MAGIC = b"sosa-gateway backup, encrypted, 1\n"
MEMORY_KIB = 65_536
"""What trying a passphrase takes, three times over."""

_SALT, _PREFIX, _TAG = 16, 7, 16
_CHUNK = 65_536
_HEAD = len(MAGIC) + _SALT + _PREFIX


def encrypted(chunks: Iterable[bytes], passphrase: str) -> Iterator[bytes]:
    """What is read back by `decrypted`; 23 bytes and the magic longer, and 16 bytes a chunk."""
    salt, prefix = os.urandom(_SALT), os.urandom(_PREFIX)
    head = MAGIC + salt + prefix
    cipher = ChaCha20Poly1305(_key(passphrase, salt))
    yield head
    number, waiting = 0, bytearray()
    for chunk in chunks:
        waiting += chunk
        while len(waiting) > _CHUNK:  # the last one has to be known as such
            part = bytes(waiting[:_CHUNK])
            del waiting[:_CHUNK]
            yield cipher.encrypt(_nonce(prefix, number, is_last=False), part, head)
            number += 1
    yield cipher.encrypt(_nonce(prefix, number, is_last=True), bytes(waiting), head)


def decrypted(source: BinaryIO, passphrase: str) -> Iterator[bytes]:
    """What was encrypted, from behind the magic on. Raises BadRequestError.

    Whoever takes a chunk takes what is as it was written; that it is all is known at the end.
    """
    head = MAGIC + source.read(_HEAD - len(MAGIC))
    if len(head) < _HEAD:
        raise _damaged()
    salt, prefix = head[len(MAGIC) : -_PREFIX], head[-_PREFIX:]
    cipher = ChaCha20Poly1305(_key(passphrase, salt))
    number, chunk = 0, source.read(_CHUNK + _TAG)
    while True:
        following = source.read(_CHUNK + _TAG)
        try:
            nonce = _nonce(prefix, number, is_last=not following)
            yield cipher.decrypt(nonce, chunk, head)
        except InvalidTag as error:
            raise _wrong() if number == 0 else _damaged() from error
        if not following:
            return
        number, chunk = number + 1, following


def _key(passphrase: str, salt: bytes) -> bytes:
    return hash_secret_raw(
        passphrase.encode(),
        salt,
        time_cost=3,
        memory_cost=MEMORY_KIB,
        parallelism=1,
        hash_len=32,
        type=Type.ID,
    )


def _nonce(prefix: bytes, number: int, *, is_last: bool) -> bytes:
    return prefix + number.to_bytes(4, "big") + bytes([is_last])


def _wrong() -> BadRequestError:
    return BadRequestError(
        "the passphrase is not that of this backup, or the backup is damaged", "try again"
    )


def _damaged() -> BadRequestError:
    return BadRequestError("the backup is damaged or cut off", "use another copy of it")
