"""Passwords and secrets: argon2 in a thread, success remembered."""

import asyncio

from argon2 import extract_parameters

from gateway.errors import TooManyRequestsError
from gateway.security.passwords import Passwords, hash_password, nobody

STORED = hash_password("secret")


async def test_a_right_password_is_accepted_again_and_again() -> None:
    passwords = Passwords()
    assert not passwords.remembers(STORED, "secret")
    assert await passwords.verify(STORED, "secret")
    assert passwords.remembers(STORED, "secret")
    assert await passwords.verify(STORED, "secret")
    assert not await passwords.verify(STORED, "Secret")


async def test_everything_else_is_refused() -> None:
    passwords = Passwords()
    for stored, password in [(STORED, ""), (None, "secret"), ("$argon2-not-a-hash", "x")]:
        assert not await passwords.verify(stored, password)


def test_who_is_not_known_costs_what_everybody_costs() -> None:
    assert extract_parameters(nobody()) == extract_parameters(STORED)
    assert len(nobody()) == len(STORED)
    assert nobody() != nobody()


async def test_the_event_loop_goes_on_while_one_is_verified() -> None:
    passwords = Passwords()
    verifying = asyncio.create_task(passwords.verify(STORED, "secret"))
    turns = 0
    while not verifying.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 10


async def test_of_too_many_at_once_the_last_are_refused() -> None:
    passwords = Passwords()
    asked = [asyncio.create_task(passwords.verify(None, str(number))) for number in range(40)]
    done, _ = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
    assert any(isinstance(task.exception(), TooManyRequestsError) for task in done)
    for task in asked:
        task.cancel()
    await asyncio.gather(*asked, return_exceptions=True)
