"""The file of identities: its owner's alone, whole after a kill, the same for two processes."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from pyoxigraph import DefaultGraph, NamedNode

from gateway.errors import BadRequestError, ConflictError, NotFoundError, StorageError
from gateway.security.identity import Identity, Kind
from gateway.security.identity_store import IdentityStore, read_identities
from gateway.security.passwords import Hashes
from gateway.security.policy import EVERYTHING, Policy
from gateway.security.policy_text import decode_policy, encode_policy, policy_of, words_of
from gateway.security.tokens import new_key
from tests.gateway.security.clients import identity, store_of

POLICY = Policy(
    query=frozenset({DefaultGraph(), NamedNode("urn:g")}),
    subscribe=None,
    publish=frozenset({"home/+/state"}),
)


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    lamp = identity("lamp", POLICY)
    store = store_of(tmp_path, lamp)
    again = IdentityStore(tmp_path / "security" / "identities.sqlite").snapshot()
    assert again.identities == {"lamp": lamp}
    assert again.clients == {"lamp-id": lamp}
    assert store.snapshot() == again


def test_the_file_is_the_owners_alone(tmp_path: Path) -> None:
    store_of(tmp_path)
    folder = tmp_path / "security"
    assert stat.S_IMODE((folder / "identities.sqlite").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_version_changes_with_every_commit_of_anyone(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    other = IdentityStore(tmp_path / "security" / "identities.sqlite")
    seen = [store.version]
    other.add(identity("lamp"))
    seen.append(store.version)
    other.revoke_tokens("lamp", 5.0)
    seen.append(store.version)
    assert len(set(seen)) == 3
    store.snapshot()
    assert store.version == seen[-1]


def test_an_identity_is_added_once_and_changed_only_where_it_is(tmp_path: Path) -> None:
    store = store_of(tmp_path, identity("lamp"))
    with pytest.raises(ConflictError, match="lamp"):
        store.add(identity("lamp"))
    with pytest.raises(NotFoundError, match="nobody"):
        store.revoke("nobody")
    with pytest.raises(NotFoundError, match="nobody"):
        store.revoke_tokens("nobody", 1.0)
    with pytest.raises(NotFoundError, match="nobody"):
        store.change_policy("nobody", POLICY)


def test_an_identity_registers_once_and_in_time(tmp_path: Path) -> None:
    store = store_of(tmp_path, Identity("lamp", Kind.DEVICE, POLICY, register_until=10.0))
    assert not store.register("lamp", "id", Hashes("hash"), now=10.0)
    assert not store.register("nobody", "id", Hashes("hash"), now=9.0)
    assert store.register("lamp", "id", Hashes("hash"), now=9.0)
    assert not store.register("lamp", "other", Hashes("hash"), now=9.0)
    assert store.snapshot().clients["id"].secret_hash == "hash"


def test_mosquittos_hash_is_that_of_the_present_secret(tmp_path: Path) -> None:
    store = store_of(tmp_path, Identity("lamp", Kind.DEVICE, POLICY, register_until=10.0))
    with pytest.raises(ConflictError, match="no secret yet"):
        store.client_id("lamp")
    assert store.register("lamp", "id", Hashes("first", "$7$first"), now=9.0)
    assert store.snapshot().identities["lamp"].mosquitto_hash == "$7$first"
    assert store.client_id("lamp") == "id"
    store.renew("lamp", Hashes("second", "$7$second"), now=11.0)
    renewed = store.snapshot().clients["id"]
    assert (renewed.secret_hash, renewed.mosquitto_hash) == ("second", "$7$second")
    assert renewed.tokens_from == 11.0
    with closing(sqlite3.connect(tmp_path / "security" / "identities.sqlite")) as there:
        assert there.execute("SELECT * FROM mosquitto_password").fetchall() == [
            ("second", "$7$second")
        ]
        # A version that does not know of it gives another secret: the old hash is nobody's.
        there.execute("UPDATE identity SET secret_hash = 'third'")
        there.commit()
    assert store.snapshot().clients["id"].mosquitto_hash == ""
    store.renew("lamp", Hashes("fourth"), now=12.0)
    assert store.snapshot().clients["id"].mosquitto_hash == ""
    with pytest.raises(NotFoundError, match="nobody"):
        store.renew("nobody", Hashes("x"), now=1.0)


def test_a_file_of_an_earlier_version_is_read_as_it_is(tmp_path: Path) -> None:
    store_of(tmp_path, identity("lamp"))
    path = tmp_path / "security" / "identities.sqlite"
    with closing(sqlite3.connect(path)) as there:
        there.execute("DROP TABLE mosquitto_password")
        there.commit()
    assert read_identities(path).identities["lamp"].mosquitto_hash == ""


def test_keys_rotate_and_the_oldest_are_forgotten(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    first, second, third = (new_key(now) for now in (1.0, 2.0, 3.0))
    store.first_key(first)
    store.first_key(second)
    assert [key.kid for key in store.snapshot().keys] == [first.kid]
    store.rotate(second, forget_before=0.0)
    assert [key.kid for key in store.snapshot().keys] == [second.kid, first.kid]
    assert store.snapshot().keys[1].retired_at == 2.0
    store.rotate(third, forget_before=2.0)
    assert [key.kid for key in store.snapshot().keys] == [third.kid, second.kid]


def test_a_file_that_is_no_database_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "identities.sqlite"
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(StorageError, match=r"identities\.sqlite"):
        IdentityStore(path)


@pytest.mark.parametrize("column", ["kind", "policy"])
def test_an_identity_of_another_version_is_reported(tmp_path: Path, column: str) -> None:
    store = store_of(tmp_path, identity("lamp"))
    with closing(sqlite3.connect(tmp_path / "security" / "identities.sqlite")) as file, file:
        file.execute(f"UPDATE identity SET {column} = ?", ('{"may": ["fly"]}',))
    with pytest.raises(StorageError, match="lamp"):
        store.snapshot()


_WRITER = """
import sys
from contextlib import closing
from pathlib import Path
from tests.gateway.security.clients import identity
from gateway.security.identity_store import IdentityStore
store = IdentityStore(Path(sys.argv[1]))
for number in range(100_000):
    store.add(identity(f"lamp-{number}"))
    print(number, flush=True)
"""


@pytest.mark.alone
def test_what_was_said_to_be_kept_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "identities.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        said = 0
        for line in writer.stdout:
            said = int(line)
            if said == 20:
                os.kill(writer.pid, signal.SIGKILL)
    kept = IdentityStore(path).snapshot().identities
    assert set(kept) >= {f"lamp-{number}" for number in range(said + 1)}
    assert len(kept) <= said + 2


@pytest.mark.parametrize("policy", [Policy(), POLICY, EVERYTHING])
def test_a_policy_in_words_is_the_policy(policy: Policy) -> None:
    assert policy_of(words_of(policy)) == policy
    assert decode_policy(encode_policy(policy)) == policy


@pytest.mark.parametrize(
    "words",
    [{"query": ["no iri"]}, {"publish": ["a/#/b"]}, {"receive": [""]}, {"may": ["fly"]}],
)
def test_a_word_that_is_none_is_refused(words: dict[str, list[str]]) -> None:
    with pytest.raises(BadRequestError):
        policy_of(words)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"query": 1}', '{"query": [1]}'])
def test_a_policy_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadRequestError):
        decode_policy(text)
