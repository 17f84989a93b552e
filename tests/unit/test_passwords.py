"""MQTT users' passwords."""

from gateway.passwords import Passwords, hash_password

USERS = {"lab": hash_password("secret"), "broken": "$argon2-not-a-hash"}


async def test_right_password_is_accepted_again_and_again() -> None:
    passwords = Passwords(USERS)
    assert await passwords.verify("lab", "secret")
    assert await passwords.verify("lab", "secret")
    assert not await passwords.verify("lab", "Secret")


async def test_everything_else_is_refused() -> None:
    passwords = Passwords(USERS)
    for user, password in [
        ("lab", ""),
        ("lab", None),
        (None, "secret"),
        ("x", "secret"),
        ("broken", "x"),
    ]:
        assert not await passwords.verify(user, password)
