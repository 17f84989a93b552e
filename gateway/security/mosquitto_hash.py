"""Password hashes as Mosquitto has them: `$7$`, PBKDF2 with HMAC-SHA-512.

Place: beside argon2, for a Mosquitto that knows our clients and no argon2. It verifies them in its
only thread, at each connection, so secrets that nobody can guess get the rounds of mosquitto_passwd
itself, and passwords that people think of a hundred times as many. Sources: mosquitto_passwd(1);
RFC 8018, 5.2.
"""

import hashlib
import hmac
import re
import secrets
from base64 import b64decode, b64encode

MADE_ROUNDS, CHOSEN_ROUNDS = 101, 10_000
_MOST_ROUNDS = 1_000_000
_SALT_BYTES = 12
_FORM = re.compile(r"\$7\$([1-9][0-9]{0,6})\$([A-Za-z0-9+/=]{4,128})\$([A-Za-z0-9+/=]{88})")


def mosquitto_hash(password: str, rounds: int = CHOSEN_ROUNDS) -> str:
    """The text that a password file of Mosquitto has behind the name and a colon.

    >>> verifies(mosquitto_hash("open sesame"), "open sesame")
    True
    """
    salt = secrets.token_bytes(_SALT_BYTES)
    return (
        f"$7${rounds}${b64encode(salt).decode()}${b64encode(_key(password, salt, rounds)).decode()}"
    )


def is_mosquitto_hash(text: str) -> bool:
    """Whether Mosquitto could verify a password by it, in a second at most or so.

    >>> is_mosquitto_hash("$argon2id$v=19$m=65536")
    False
    """
    return _parsed(text) is not None


def verifies(stored: str, password: str) -> bool:
    """Whether `stored` is a hash of this form, and that of the password."""
    parsed = _parsed(stored)
    if parsed is None:
        return False
    rounds, salt, key = parsed
    return hmac.compare_digest(key, _key(password, salt, rounds))


def _parsed(text: str) -> tuple[int, bytes, bytes] | None:
    """Rounds, salt and key."""
    found = _FORM.fullmatch(text)
    if found is None or int(found[1]) > _MOST_ROUNDS:
        return None
    try:
        return int(found[1]), b64decode(found[2], validate=True), b64decode(found[3], validate=True)
    except ValueError:
        return None


def _key(password: str, salt: bytes, rounds: int) -> bytes:
    return hashlib.pbkdf2_hmac("sha512", password.encode(errors="surrogatepass"), salt, rounds)
