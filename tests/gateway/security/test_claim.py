"""The code of a gateway that has no client yet: once, for an hour of running, for five tries."""

import asyncio
import sqlite3
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import (
    BadRequestError,
    ConflictError,
    TooManyRequestsError,
    UnknownIdentityError,
)
from gateway.security import claim
from gateway.security.authority import Credentials
from gateway.security.claim import ALPHABET, SLICE_S, TRIES, VALID_S, Claims, normal, offer
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING
from gateway.security.throttle import ThrottleLimits
from tests.gateway.security.clients import (
    ADDRESS,
    Clock,
    authority_of,
    cheap_hash,
    identity,
    store_of,
)


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes that take no time."""
    monkeypatch.setattr(claim, "hash_password", cheap_hash)


def claims_of(store: IdentityStore, **settings: object) -> Claims:
    clock = Clock()
    return Claims(store, authority_of(store, clock, **settings), clock)


def wrong(code: str) -> str:
    """Another code than this one."""
    first = ALPHABET[(ALPHABET.index(code[0]) + 1) % len(ALPHABET)]
    return first + code[1:]


def test_a_code_is_ten_characters_that_nobody_mistakes(tmp_path: Path) -> None:
    code = offer(store_of(tmp_path))
    assert (len(code), code[5]) == (11, "-")
    assert set(code) - {"-"} <= set(ALPHABET)
    assert not set(ALPHABET) & set("0O1IL")
    assert len(ALPHABET) ** 10 > 2**49


def test_the_code_is_kept_as_a_hash_in_a_file_of_its_owner(tmp_path: Path) -> None:
    code = offer(store_of(tmp_path))
    path = tmp_path / "security" / "identities.sqlite"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = path.read_bytes()
    for shown in (code, normal(code)):
        assert shown.encode() not in content


@given(
    code=st.text(ALPHABET, min_size=10, max_size=10),
    spaces=st.lists(st.sampled_from(["", "-", " ", "\t"]), min_size=10, max_size=10),
    is_lower=st.booleans(),
)
def test_however_a_code_is_typed_it_is_that_code(
    code: str, spaces: list[str], is_lower: bool
) -> None:
    typed = "".join(map("".join, zip(code, spaces, strict=True)))
    assert normal(typed.lower() if is_lower else typed) == code


async def test_who_gives_the_code_is_the_first_client_with_all_rights(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    claims = claims_of(store)
    credentials = await claims.redeem(offer(store).lower(), "Ann's browser", ADDRESS)
    (first,) = store.snapshot().identities.values()
    assert (first.name, first.policy) == ("Ann's browser", EVERYTHING)
    assert first.client_id == credentials.client_id
    authority = authority_of(store, Clock())
    shown = await authority.login(credentials.client_id, credentials.client_secret, ADDRESS)
    assert shown.policy == EVERYTHING


async def test_a_code_is_good_for_one_client(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    claims = claims_of(store)
    code = offer(store)
    await claims.redeem(code, "first", ADDRESS)
    with pytest.raises(ConflictError):
        await claims.redeem(code, "second", ADDRESS)
    with pytest.raises(ConflictError):
        offer(store)
    store.revoke("first")
    with pytest.raises(UnknownIdentityError):
        await claims_of(store).redeem(code, "third", ADDRESS)


async def test_of_two_at_once_one_wins(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    code = offer(store)
    rivals = [claims_of(store), claims_of(store)]
    results = await asyncio.gather(
        *(each.redeem(code, f"rival {n}", ADDRESS) for n, each in enumerate(rivals)),
        return_exceptions=True,
    )
    won = [each for each in results if isinstance(each, Credentials)]
    lost = [each for each in results if not isinstance(each, Credentials)]
    assert len(won) == 1
    assert isinstance(lost[0], ConflictError | UnknownIdentityError)
    assert len(store.snapshot().identities) == 1


async def test_the_fifth_try_is_the_last(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    claims = claims_of(store)
    code = offer(store)
    for _ in range(TRIES - 1):
        with pytest.raises(UnknownIdentityError):
            await claims.redeem(wrong(code), "thief", ADDRESS)
    await claims.redeem(code, "owner", ADDRESS)
    store.revoke("owner")
    code = offer(store)
    claims = claims_of(store)
    for _ in range(TRIES):
        with pytest.raises(UnknownIdentityError):
            await claims.redeem(wrong(code), "thief", ADDRESS)
    with pytest.raises(UnknownIdentityError):
        await claims.redeem(code, "owner", ADDRESS)
    await claims_of(store).redeem(offer(store), "owner", ADDRESS)


async def test_tries_outlive_a_restart_and_end_with_a_new_code(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    code = offer(store)
    for _ in range(TRIES):
        with pytest.raises(UnknownIdentityError):
            await claims_of(store).redeem(wrong(code), "thief", ADDRESS)
    with pytest.raises(UnknownIdentityError):
        await claims_of(store).redeem(code, "owner", ADDRESS)
    second = offer(store)
    with pytest.raises(UnknownIdentityError):
        await claims_of(store).redeem(code, "owner", ADDRESS)
    await claims_of(store).redeem(second, "owner", ADDRESS)


async def test_tries_are_throttled_as_logins_are(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    claims = claims_of(store, throttle=ThrottleLimits(20, 2))
    code = offer(store)
    for _ in range(2):
        with pytest.raises(UnknownIdentityError):
            await claims.redeem(wrong(code), "thief", ADDRESS)
    with pytest.raises(TooManyRequestsError):
        await claims.redeem(code, "owner", "192.0.2.77")
    # What was throttled has cost no try.
    await claims_of(store).redeem(code, "owner", ADDRESS)


async def test_a_code_ends_after_an_hour_in_which_the_gateway_runs(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    code = offer(store)
    slices = int(VALID_S / SLICE_S)
    for _ in range(slices):
        await claims_of(store).charge()
    await claims_of(store).redeem(code, "owner", ADDRESS)
    store.revoke("owner")
    code = offer(store)
    for _ in range(slices + 1):
        await claims_of(store).charge()
    with pytest.raises(UnknownIdentityError):
        await claims_of(store).redeem(code, "owner", ADDRESS)


async def test_every_start_takes_time_and_none_gives_it_back(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    offer(store)
    for _ in range(3):
        task = asyncio.create_task(claims_of(store).run())
        before = left_s(tmp_path)
        async with asyncio.timeout(60):
            while left_s(tmp_path) == before:
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert left_s(tmp_path) == VALID_S - 3 * SLICE_S


def left_s(folder: Path) -> float:
    connection = sqlite3.connect(folder / "security" / "identities.sqlite")
    (found,) = connection.execute("SELECT left_s FROM claim").fetchone()
    connection.close()
    return float(found)


async def test_a_client_of_the_command_line_ends_the_code(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    code = offer(store)
    store.add(identity("lamp"))
    store.revoke("lamp")
    with pytest.raises(UnknownIdentityError):
        await claims_of(store).redeem(code, "owner", ADDRESS)


@pytest.mark.parametrize("name", ["", "x" * 257, "a\nb", "SEPATest"], ids=repr)
async def test_what_is_no_name_costs_no_try(name: str, tmp_path: Path) -> None:
    store = store_of(tmp_path)
    claims = claims_of(store)
    code = offer(store)
    for _ in range(TRIES + 1):
        with pytest.raises(BadRequestError):
            await claims.redeem(code, name, ADDRESS)
    await claims.redeem(code, "owner", ADDRESS)


async def test_without_a_code_none_is_right(tmp_path: Path) -> None:
    with pytest.raises(UnknownIdentityError):
        await claims_of(store_of(tmp_path)).redeem("ABCDE-FGHJK", "thief", ADDRESS)
