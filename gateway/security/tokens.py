"""`Tokens`: JSON Web Tokens, signed and verified with the gateway's RSA keys.

Place: the authority issues them and reads them back from requests. Sources: RFC 7519 (JWT), RFC
7515 (JWS), RFC 7517 (JWK); RS256 alone, so that neither `none` nor a public key taken for a shared
secret can pass (RFC 8725, 3.1).
"""

import json
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from gateway.errors import InvalidTokenError, StorageError, UnauthorizedError
from gateway.security.identity import SigningKey

_ALGORITHM = "RS256"
_KEY_BITS = 2048
_CLAIMS = ["sub", "iat", "exp", "iss", "aud", "jti"]
MOST_BYTES = 8192
"""A token of ours has some 700 bytes."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a token says; times are seconds since the Unix epoch."""

    client_id: str
    issued_at: float
    expires_at: float
    token_id: str


def new_key(now: float) -> SigningKey:
    """A fresh RSA key; takes some 100 ms."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=_KEY_BITS)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return SigningKey(secrets.token_urlsafe(8), pem, now)


class Tokens:
    """Issues with the first key and verifies with all; `issuer` is also the audience.

    A retired key verifies until the last token that it may have signed has expired: whoever steals
    it later gets nothing. Raises StorageError for a key that cannot be read.
    """

    def __init__(self, issuer: str, keys: Sequence[SigningKey], longest_s: float) -> None:
        self._issuer = issuer
        self._keys = {key.kid: _private(key) for key in keys}
        self._until = {
            key.kid: key.retired_at + longest_s for key in keys if key.retired_at is not None
        }
        self._signing = keys[0].kid

    def issue(self, client_id: str, now: float, lifetime_s: float) -> str:
        """A token for the client, valid from now on."""
        claims = {
            "iss": self._issuer,
            "aud": self._issuer,
            "sub": client_id,
            "iat": now,
            "exp": math.ceil(now + lifetime_s),
            "jti": secrets.token_urlsafe(12),
        }
        key = self._keys[self._signing]
        return jwt.encode(claims, key, _ALGORITHM, headers={"kid": self._signing})

    def read(self, token: str, now: float) -> Claims:
        """What the token says; whether it has expired is for the caller to see.

        Raises UnauthorizedError for what is no JWT, InvalidTokenError for what we did not sign.
        """
        if len(token) > MOST_BYTES:
            raise UnauthorizedError("the token is too long to be one of this gateway")
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError as error:
            raise UnauthorizedError(
                "the token is not a JSON Web Token", "get one from /oauth/token"
            ) from error
        kid = str(header.get("kid", ""))
        key = self._keys.get(kid)
        if key is None or header.get("alg") != _ALGORITHM or now > self._until.get(kid, now):
            raise _not_ours()
        return self._verified(token, key)

    def _verified(self, token: str, key: rsa.RSAPrivateKey) -> Claims:
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key.public_key(),
                algorithms=[_ALGORITHM],
                audience=self._issuer,
                issuer=self._issuer,
                options={"require": _CLAIMS, "verify_exp": False, "verify_iat": False},
            )
        except jwt.PyJWTError as error:
            raise _not_ours() from error
        times = float(claims["iat"]), float(claims["exp"])
        return Claims(str(claims["sub"]), *times, str(claims["jti"]))

    def public_keys(self) -> list[dict[str, Any]]:
        """The JWK Set's keys (RFC 7517), the one that signs first."""
        return [_public(kid, key) for kid, key in self._keys.items()]


def _public(kid: str, key: rsa.RSAPrivateKey) -> dict[str, Any]:
    members = json.loads(RSAAlgorithm.to_jwk(key.public_key()))
    members.pop("key_ops", None)
    return {**members, "kid": kid, "use": "sig", "alg": _ALGORITHM}


def _private(key: SigningKey) -> rsa.RSAPrivateKey:
    try:
        loaded = serialization.load_pem_private_key(key.private_pem, None)
    except ValueError as error:
        raise StorageError(
            f"the signing key {key.kid} cannot be read", "run: sosa-gateway keys rotate"
        ) from error
    if not isinstance(loaded, rsa.RSAPrivateKey):
        raise StorageError(f"the signing key {key.kid} is not RSA", "run: sosa-gateway keys rotate")
    return loaded


def _not_ours() -> InvalidTokenError:
    return InvalidTokenError(
        "the token was not issued by this gateway", "get one from /oauth/token"
    )
