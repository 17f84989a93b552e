"""Tokens, logins and registration, at the authority."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from gateway.errors import (
    GatewayError,
    InvalidTokenError,
    TooManyRequestsError,
    UnauthorizedError,
    UnknownClientError,
    UnknownIdentityError,
    UnsupportedGrantError,
)
from gateway.security.authority import SEPATEST, Authority
from gateway.security.identity import Identity, Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING, Policy
from gateway.security.principal import Principal
from gateway.security.throttle import Throttle, ThrottleLimits
from gateway.security.tokens import new_key
from tests.gateway.security.clients import ADDRESS, ISSUER, Clock, authority_of, identity, store_of

READER = Policy(query=None)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path) -> IdentityStore:
    return store_of(tmp_path, identity("lamp", READER), identity("boss", EVERYTHING, Kind.USER))


async def token_of(authority: Authority, name: str = "lamp") -> str:
    return (await authority.issue(f"{name}-id", f"{name}-secret", ADDRESS)).access_token


def principal_of(authority: Authority, token: str) -> Principal:
    return authority.principal(f"Bearer {token}")


async def test_a_token_says_who_asks(store: IdentityStore, clock: Clock) -> None:
    authority = authority_of(store, clock)
    issued = await authority.issue("lamp-id", "lamp-secret", ADDRESS)
    principal = authority.principal(f"bearer  {issued.access_token} ")
    assert (principal.identity, principal.policy) == ("lamp", READER)
    assert principal.expires_at is not None
    assert issued.expires_in_s == 3600
    assert principal.expires_at.timestamp() == pytest.approx(clock.now + 3600, abs=1)


async def test_lifetimes_are_those_of_the_kind(store: IdentityStore, clock: Clock) -> None:
    authority = authority_of(store, clock, token_s=dict.fromkeys(Kind, 7.0) | {Kind.USER: 5.0})
    assert (await authority.issue("lamp-id", "lamp-secret", ADDRESS)).expires_in_s == 7
    assert (await authority.issue("boss-id", "boss-secret", ADDRESS)).expires_in_s == 5


async def test_a_token_expires(store: IdentityStore, clock: Clock) -> None:
    authority = authority_of(store, clock)
    token = await token_of(authority)
    clock.now += 3599
    assert principal_of(authority, token).identity == "lamp"
    clock.now += 2
    with pytest.raises(InvalidTokenError, match="expired"):
        principal_of(authority, token)


def forged(token: str, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> str:
    """The token with changed header and claims, and the signature of the first."""
    head, body, signature = token.split(".")
    header, claims = (json.loads(base64.urlsafe_b64decode(part + "==")) for part in (head, body))
    change(header, claims)
    parts = (json.dumps(part).encode() for part in (header, claims))
    return ".".join(
        [*(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts), signature]
    )


def _none(header: dict[str, Any], claims: dict[str, Any]) -> None:
    header["alg"] = "none"


def _boss(header: dict[str, Any], claims: dict[str, Any]) -> None:
    claims["sub"] = "boss-id"


def _later(header: dict[str, Any], claims: dict[str, Any]) -> None:
    claims["exp"] += 10_000


def _no_kid(header: dict[str, Any], claims: dict[str, Any]) -> None:
    del header["kid"]


def _kid_is_a_list(header: dict[str, Any], claims: dict[str, Any]) -> None:
    header["kid"] = ["x"]


@pytest.mark.parametrize("change", [_none, _boss, _later, _no_kid, _kid_is_a_list])
async def test_a_forged_token_is_refused(
    store: IdentityStore, clock: Clock, change: Callable[[dict[str, Any], dict[str, Any]], None]
) -> None:
    authority = authority_of(store, clock)
    token = await token_of(authority)
    assert principal_of(authority, token)
    false = forged(token, change)
    for each in (false, false.rpartition(".")[0] + "."):
        with pytest.raises(UnauthorizedError):
            principal_of(authority, each)


async def test_a_public_key_is_no_shared_secret(store: IdentityStore, clock: Clock) -> None:
    """The RS256 to HS256 confusion (RFC 8725, 2.1)."""
    authority = authority_of(store, clock)
    key = store.snapshot().keys[0]
    private = serialization.load_pem_private_key(key.private_pem, None)
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )

    def symmetric(header: dict[str, Any], claims: dict[str, Any]) -> None:
        header["alg"] = "HS256"

    signed = forged(await token_of(authority), symmetric).rpartition(".")[0]
    mac = hmac.new(public, signed.encode(), hashlib.sha256).digest()
    token = f"{signed}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"
    with pytest.raises(InvalidTokenError):
        principal_of(authority, token)


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "https://elsewhere.example"},
        {"iss": "https://elsewhere.example"},
        {"aud": None},
        {"jti": None},
        {"exp": None},
        {"sub": "nobody"},
    ],
)
async def test_claims_of_another_kind_are_refused(
    store: IdentityStore, clock: Clock, claims: Mapping[str, object]
) -> None:
    authority = authority_of(store, clock)
    key = store.snapshot().keys[0]
    mine = {"iss": ISSUER, "aud": ISSUER, "sub": "lamp-id", "jti": "1", "iat": clock.now}
    mine["exp"] = clock.now + 60

    def signed(members: Mapping[str, object]) -> str:
        present = {name: value for name, value in members.items() if value is not None}
        return jwt.encode(present, key.private_pem.decode(), "RS256", headers={"kid": key.kid})

    assert principal_of(authority, signed(mine)).identity == "lamp"
    with pytest.raises(InvalidTokenError):
        principal_of(authority, signed({**mine, **claims}))


async def test_a_token_of_another_gateway_is_refused(
    store: IdentityStore, clock: Clock, tmp_path: Path
) -> None:
    other = authority_of(store_of(tmp_path / "other", identity("lamp", EVERYTHING)), clock)
    token = await token_of(other)
    assert principal_of(other, token)
    with pytest.raises(InvalidTokenError, match="not issued by this gateway"):
        principal_of(authority_of(store, clock), token)


@pytest.mark.parametrize(
    ("authorization", "error"),
    [
        (None, UnauthorizedError),
        ("", UnauthorizedError),
        ("Basic bGFtcDpzZWNyZXQ=", UnsupportedGrantError),
        ("Bearer", UnauthorizedError),
        ("Bearer nonsense", UnauthorizedError),
        ("Bearer a.b.c", UnauthorizedError),
        ("Bearer " + "a" * 100_000, UnauthorizedError),
        ("Bearer \u00e9.\u00e9.\u00e9", UnauthorizedError),
    ],
)
async def test_what_is_no_token_is_refused(
    store: IdentityStore, clock: Clock, authorization: str | None, error: type[GatewayError]
) -> None:
    with pytest.raises(error) as raised:
        authority_of(store, clock).principal(authorization)
    assert type(raised.value) is error


async def test_revocation_is_in_force_once_the_store_is_read_again(
    store: IdentityStore, clock: Clock, tmp_path: Path
) -> None:
    authority = authority_of(store, clock)
    command_line = IdentityStore(tmp_path / "security" / "identities.sqlite")
    token = await token_of(authority)
    command_line.revoke_tokens("lamp", clock.now + 1)
    await authority.refresh()
    with pytest.raises(InvalidTokenError, match="revoked"):
        principal_of(authority, token)
    clock.now += 2
    token = await token_of(authority)
    assert principal_of(authority, token)
    command_line.revoke("lamp")
    await authority.refresh()
    with pytest.raises(InvalidTokenError, match="revoked"):
        principal_of(authority, token)
    with pytest.raises(UnknownClientError):
        await token_of(authority)


async def test_one_token_is_revoked_and_another_is_not(store: IdentityStore, clock: Clock) -> None:
    authority = authority_of(store, clock)
    first, second = await token_of(authority), await token_of(authority)
    await authority.revoke(first)
    await authority.revoke("nonsense")
    with pytest.raises(InvalidTokenError):
        principal_of(authority, first)
    assert principal_of(authority, second)
    assert authority_of(store, clock).principal(f"Bearer {second}")


async def test_keys_rotate_and_old_tokens_stay_valid(store: IdentityStore, clock: Clock) -> None:
    authority = authority_of(store, clock)
    old = await token_of(authority)
    clock.now += 1
    store.rotate(new_key(clock.now), forget_before=0.0)
    await authority.refresh()
    fresh = await token_of(authority)
    kids = [jwt.get_unverified_header(token)["kid"] for token in (fresh, old)]
    assert [key["kid"] for key in authority.public_keys()] == kids
    assert len(set(kids)) == 2
    assert principal_of(authority, old)
    assert principal_of(authority, fresh)
    clock.now += 1
    store.rotate(new_key(clock.now), forget_before=clock.now)
    await authority.refresh()
    for token in (old, fresh):
        with pytest.raises(InvalidTokenError):
            principal_of(authority, token)


async def test_a_retired_key_signs_nothing_that_lasts(store: IdentityStore, clock: Clock) -> None:
    authority = authority_of(store, clock, token_s=dict.fromkeys(Kind, 100.0))
    key = store.snapshot().keys[0]
    claims = {"iss": ISSUER, "aud": ISSUER, "sub": "lamp-id", "jti": "1", "iat": clock.now}
    claims["exp"] = clock.now + 1_000_000
    stolen = jwt.encode(claims, key.private_pem.decode(), "RS256", headers={"kid": key.kid})
    store.rotate(new_key(clock.now), forget_before=0.0)
    await authority.refresh()
    clock.now += 101
    with pytest.raises(InvalidTokenError):
        principal_of(authority, stolen)


async def test_an_identity_registers_once(tmp_path: Path, clock: Clock) -> None:
    store = store_of(tmp_path, Identity("lamp", Kind.DEVICE, READER, register_until=clock.now + 60))
    authority = authority_of(store, clock)
    for name in ("nobody", "lamp-id"):
        with pytest.raises(UnknownIdentityError):
            await authority.register(name, ADDRESS)
    mine = await authority.register("lamp", ADDRESS)
    assert mine.client_secret not in repr(mine)
    token = await authority.issue(mine.client_id, mine.client_secret, ADDRESS)
    assert principal_of(authority, token.access_token).identity == "lamp"
    with pytest.raises(UnknownIdentityError):
        await authority.register("lamp", ADDRESS)


async def test_who_may_register_has_no_empty_secret(tmp_path: Path, clock: Clock) -> None:
    store = store_of(tmp_path, Identity("lamp", Kind.DEVICE, READER, register_until=clock.now + 60))
    authority = authority_of(store, clock)
    for client_id in ("lamp", ""):
        with pytest.raises(UnknownClientError):
            await authority.issue(client_id, "", ADDRESS)


async def test_a_wrong_secret_and_an_unknown_client_are_answered_alike(
    store: IdentityStore, clock: Clock
) -> None:
    authority = authority_of(store, clock)
    texts = []
    for client_id, secret in (("lamp-id", "wrong"), ("nobody", "lamp-secret")):
        with pytest.raises(UnknownClientError) as raised:
            await authority.issue(client_id, secret, ADDRESS)
        texts.append(str(raised.value))
    assert texts[0] == texts[1]


async def test_a_login_is_by_name_or_client_id_and_secret_or_token(
    store: IdentityStore, clock: Clock
) -> None:
    authority = authority_of(store, clock)
    token = await token_of(authority)
    for name in ("lamp", "lamp-id"):
        for password in ("lamp-secret", token):
            assert (await authority.login(name, password, ADDRESS)).identity == "lamp"
    for name, password in (("boss", token), ("nobody", token), ("lamp", "boss-secret")):
        with pytest.raises(UnauthorizedError):
            await authority.login(name, password, ADDRESS)


async def test_guessing_is_slowed_down_but_locks_out_nobody_who_is_known(
    store: IdentityStore, clock: Clock
) -> None:
    authority = authority_of(store, clock, throttle=ThrottleLimits(20, 3))
    await authority.login("lamp", "lamp-secret", ADDRESS)
    for number in range(3):
        with pytest.raises(UnknownClientError):
            await authority.login("lamp", "guess", f"192.0.2.{number}")
    with pytest.raises(TooManyRequestsError) as raised:
        await authority.login("lamp", "guess", "192.0.2.9")
    assert raised.value.retry_after_s > 1
    assert await authority.login("lamp", "lamp-secret", ADDRESS)
    assert await authority.login("boss", "boss-secret", ADDRESS)


async def test_guesses_at_once_are_counted_before_they_are_verified(
    store: IdentityStore, clock: Clock
) -> None:
    authority = authority_of(store, clock, throttle=ThrottleLimits(100, 3))
    guesses = (authority.login("lamp", f"guess {n}", ADDRESS) for n in range(20))
    ended = await asyncio.gather(*guesses, return_exceptions=True)
    assert sum(isinstance(error, UnknownClientError) for error in ended) == 3


def test_an_address_is_slowed_down_whatever_identities_it_tries() -> None:
    now = [0.0]
    throttle = Throttle(lambda: now[0], ThrottleLimits(3, 100, window_s=30.0))
    for number in range(3):
        throttle.attempt(f"2001:db8::{number}", str(number))
    with pytest.raises(TooManyRequestsError):
        throttle.attempt("2001:db8::ffff", "another")
    throttle.attempt("2001:db8:0:1::1", "another")
    now[0] = 10.0
    throttle.attempt("2001:db8::1", "x")
    throttle.succeeded("2001:db8::1", "x")
    throttle.attempt("2001:db8::1", "x")


async def test_a_watched_principal_is_told_once_why_its_rights_ended(
    store: IdentityStore, clock: Clock
) -> None:
    authority = authority_of(store, clock)
    told: list[str] = []
    tokens = [await token_of(authority) for _ in range(3)]
    first, second, third = (principal_of(authority, token) for token in tokens)
    authority.watch(first, lambda error: told.append(f"first: {error.description}"))
    authority.watch(first, lambda error: told.append(f"first too: {error.description}"))
    stop = authority.watch(third, lambda error: told.append("stopped"))
    stop()
    stop()
    following = asyncio.create_task(authority.run())
    try:
        await authority.revoke(tokens[0])
        assert told == ["first: the token was revoked", "first too: the token was revoked"]
        changed = asyncio.Event()

        def tell(error: GatewayError) -> None:
            told.append(error.description)
            changed.set()

        authority.watch(second, tell)
        store.change_policy("lamp", EVERYTHING)
        await asyncio.wait_for(changed.wait(), 60)
        assert told[2:] == ["the rights of the client have changed"]
        expired = asyncio.Event()
        authority.watch(principal_of(authority, tokens[1]), lambda error: expired.set())
        clock.now += 4000
        await asyncio.wait_for(expired.wait(), 60)
    finally:
        following.cancel()


async def test_sepatest_is_let_in_only_where_it_was_asked_for(
    store: IdentityStore, clock: Clock
) -> None:
    strict = authority_of(store, clock)
    with pytest.raises(UnknownIdentityError):
        await strict.register(SEPATEST, ADDRESS)
    with pytest.raises(UnknownClientError):
        await strict.issue(SEPATEST, SEPATEST, ADDRESS)
    authority = authority_of(store, clock, sepatest=True)
    for _ in range(2):
        credentials = await authority.register(SEPATEST, ADDRESS)
        issued = await authority.issue(credentials.client_id, credentials.client_secret, ADDRESS)
    assert issued.expires_in_s == 5
    principal = principal_of(authority, issued.access_token)
    assert principal.policy.query is None
    assert not principal.policy.capabilities
    clock.now += 6.1
    with pytest.raises(InvalidTokenError, match="expired"):
        principal_of(authority, issued.access_token)
