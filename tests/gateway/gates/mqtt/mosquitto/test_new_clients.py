"""Clients that come over HTTP: Mosquitto is told of each, however it was let in."""

from pathlib import Path

import pytest

from gateway.security import passwords
from gateway.security.claim import Claims, offer
from gateway.security.clients import Clients
from gateway.security.identity import Identity, Kind
from gateway.security.mosquitto_hash import mosquitto_hash, verifies
from gateway.security.passwords import Passwords
from tests.gateway.gates.mqtt.mosquitto.beside import LAMP
from tests.gateway.security.clients import ADDRESS, Clock, authority_of, cheap_hash, store_of


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2 that takes no time."""
    monkeypatch.setattr(passwords, "hash_password", cheap_hash)


ROUNDS = {"made": "$7$101$", "chosen": "$7$10000$"}


async def test_claimed_added_and_registered_clients_have_mosquittos_hash(tmp_path: Path) -> None:
    store, clock = store_of(tmp_path), Clock()
    authority = authority_of(store, clock, for_mosquitto=True)
    code = offer(store)
    secrets = {"page": await Claims(store, authority, clock).redeem(code, "page", ADDRESS)}
    clients = Clients(store, authority, clock)
    lamp = Identity("lamp", Kind.DEVICE, LAMP)
    _, secrets["lamp"] = await clients.add(lamp)
    door = Identity("door", Kind.DEVICE, LAMP)
    _, secrets["door"] = await clients.add(door, "open sesame, please")
    store.add(Identity("shelf", Kind.DEVICE, LAMP, register_until=clock.now + 60))
    await authority.refresh()
    secrets["shelf"] = await authority.register("shelf", ADDRESS)
    known = store.snapshot().identities
    for name, credentials in secrets.items():
        stored = known[name].mosquitto_hash
        assert verifies(stored, credentials.client_secret)
        assert stored.startswith(ROUNDS["chosen" if name == "door" else "made"])


async def test_without_a_mosquitto_nothing_weaker_than_argon2_is_kept(tmp_path: Path) -> None:
    store, clock = store_of(tmp_path), Clock()
    authority = authority_of(store, clock)
    await Clients(store, authority, clock).add(Identity("lamp", Kind.DEVICE, LAMP))
    (lamp,) = store.snapshot().identities.values()
    assert lamp.secret_hash.startswith("$argon2id$")
    assert lamp.mosquitto_hash == ""


@pytest.mark.parametrize(("password", "is_right"), [("open sesame", True), ("open", False)])
async def test_the_embedded_broker_takes_a_line_that_was_made_for_mosquitto(
    password: str, is_right: bool
) -> None:
    stored = mosquitto_hash("open sesame", 2)
    assert await Passwords().verify(stored, password) == is_right
