"""Codes that let one more gateway in: once, within a day, and for who has them alone.

    create -> code: a secret, and the CA's fingerprint -> a person -> join

Place: at the gateway with the CA. By the fingerprint the newcomer knows whom it tells the secret;
by the secret the CA knows that somebody let the newcomer in. Both are in one word, in groups of six
letters (base32, RFC 4648, section 6), which reads aloud as it is typed.
"""

import base64
import binascii
import hashlib
import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from gateway.errors import BadRequestError, StorageError

VALID_S = 86_400.0
MOST = 1000

_SECRET, _PRINT, _GROUP = 10, 26, 6
"""Letters of the secret (50 bits), of the fingerprint (130 bits), of a group."""


@dataclass(frozen=True, slots=True)
class Code:
    """What a code says."""

    secret: str
    fingerprint: str

    def __str__(self) -> str:
        word = self.secret + self.fingerprint
        return "-".join(word[at : at + _GROUP] for at in range(0, len(word), _GROUP))


@dataclass(frozen=True, slots=True)
class Invitation:
    """A code that is good until a time, in seconds since the Unix epoch.

    With `member` it is for the gateway of this id, which may be a member already.
    """

    secret_hash: str
    until: float
    member: str = ""


def new_code(fingerprint: bytes) -> Code:
    """A code that nobody can guess, for a CA (SHA-256 of its certificate)."""
    return Code(_letters(secrets.token_bytes(7))[:_SECRET], short(fingerprint))


def short(fingerprint: bytes) -> str:
    """A fingerprint as codes have it.

    >>> short(bytes(32))
    'AAAAAAAAAAAAAAAAAAAAAAAAAA'
    """
    return _letters(fingerprint)[:_PRINT]


def read_code(text: str) -> Code:
    """A code as a person typed it. Raises BadRequestError.

    >>> read_code(" abcdef-ghijaa " + "a" * 24).secret
    'ABCDEFGHIJ'
    """
    word = "".join(each for each in text.upper() if each not in "- \t\n")
    try:
        base64.b32decode(word + "=" * (-len(word) % 8))
        is_one = len(word) == _SECRET + _PRINT
    except binascii.Error:
        is_one = False
    if not is_one:
        raise BadRequestError(
            "this is no code to join by", "copy all of it, as `sosa-gateway federation create` says"
        )
    return Code(word[:_SECRET], word[_SECRET:])


def hashed(secret: str) -> str:
    """As it is kept. A plain hash will do: beside it lies the CA's key."""
    return hashlib.sha256(secret.encode()).hexdigest()


def good(invitations: Iterable[Invitation], now: float) -> list[Invitation]:
    """The invitations whose time is not over."""
    return [each for each in invitations if now < each.until <= now + VALID_S]


def encoded(invitations: Sequence[Invitation]) -> bytes:
    """As a file has them."""
    return json.dumps([asdict(each) for each in invitations]).encode()


def decoded(text: bytes) -> list[Invitation]:
    """The reverse of `encoded`. Raises StorageError."""
    try:
        return [
            Invitation(str(each["secret_hash"]), float(each["until"]), str(each["member"]))
            for each in json.loads(text)
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise StorageError(
            f"the codes to join by cannot be read: {error!r:.100}",
            "remove federation/invitations.json, and make new ones",
        ) from error


def _letters(content: bytes) -> str:
    return base64.b32encode(content).decode().rstrip("=")
