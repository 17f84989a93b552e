"""`IdentityStore`: identities, signing keys and revoked tokens, in one SQLite file.

Place: written by `sosa-gateway client` and `keys` and by a client's registration; read by the
authority of a running gateway, which asks `version` whether something has changed. A commit is
whole or not there, whatever ends the process. The file is its owner's alone (0600).
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from gateway.errors import BadRequestError, ConflictError, NotFoundError, StorageError
from gateway.runtime.folders import disk_error
from gateway.security.identity import Identity, Kind, SigningKey, Snapshot
from gateway.security.passwords import Hashes
from gateway.security.policy import EVERYTHING, Policy
from gateway.security.policy_text import decode_policy, encode_policy

_BUSY_S = 5.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS identity (
    name TEXT PRIMARY KEY, kind TEXT NOT NULL, policy TEXT NOT NULL,
    client_id TEXT UNIQUE, secret_hash TEXT NOT NULL,
    register_until REAL NOT NULL, tokens_from REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS signing_key (
    kid TEXT PRIMARY KEY, private_pem BLOB NOT NULL, created_at REAL NOT NULL, retired_at REAL
) STRICT;
CREATE TABLE IF NOT EXISTS revoked_token (jti TEXT PRIMARY KEY, expires_at REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS claim (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    code_hash TEXT NOT NULL, left_s REAL NOT NULL, tries INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS mosquitto_password (
    secret_hash TEXT PRIMARY KEY, password_hash TEXT NOT NULL
) STRICT;
"""


class IdentityStore:
    """The file `path`, made where it is missing; every method may be called in any thread.

    Raises StorageError where the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with _storage(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            path.chmod(0o600)
        with self._connection() as connection:
            connection.executescript(_SCHEMA)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A transaction of its own; committed at the end, rolled back by an error."""
        with _storage(self._path):
            connection = sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level="IMMEDIATE")
            try:
                connection.execute("PRAGMA synchronous = FULL")
                with connection:
                    yield connection
            finally:
                connection.close()

    @property
    def version(self) -> bytes:
        """Another value after every commit: the change counter in the head of the file.

        Source: "The SQLite Database File Format", 1.3.7.
        """
        with _storage(self._path), self._path.open("rb") as file:
            return file.read(28)[24:]

    def snapshot(self) -> Snapshot:
        """All that is in it now."""
        with self._connection() as connection:
            return _snapshot(connection)

    def add(self, identity: Identity) -> None:
        """A new identity, after which no code is taken. Raises ConflictError for a known name."""
        with self._connection() as connection:
            connection.execute("DELETE FROM claim")
            if not _added(connection, identity):
                raise ConflictError(
                    f"there is a client {identity.name!r} already",
                    "change it with `client change`, or revoke it first",
                )

    def change_policy(self, name: str, policy: Policy) -> None:
        """Give an identity other rights. Raises NotFoundError."""
        with self._connection() as connection:
            changed = connection.execute(
                "UPDATE identity SET policy = ? WHERE name = ?", (encode_policy(policy), name)
            )
            _require(changed, name)

    def register(self, name: str, client_id: str, hashes: Hashes, now: float) -> bool:
        """Give an identity its credentials; False where it may not register, or has them."""
        with self._connection() as connection:
            changed = connection.execute(
                "UPDATE identity SET client_id = ?, secret_hash = ? "
                "WHERE name = ? AND client_id IS NULL AND register_until > ?",
                (client_id, hashes.secret, name, now),
            )
            if changed.rowcount:
                _keep_for_mosquitto(connection, hashes)
            return bool(changed.rowcount)

    def client_id(self, name: str) -> str:
        """That of a client with a secret. Raises NotFoundError, ConflictError where it has none."""
        with self._connection() as connection:
            found = connection.execute("SELECT client_id FROM identity WHERE name = ?", (name,))
            row = found.fetchone()
        if row is None:
            raise _nobody(name)
        if row[0] is None:
            raise ConflictError(
                f"{name!r} has no secret yet", "it registers itself, or is revoked and added again"
            )
        return str(row[0])

    def renew(self, name: str, hashes: Hashes, now: float) -> None:
        """Give a client another secret, which ends its tokens. Raises NotFoundError."""
        with self._connection() as connection:
            changed = connection.execute(
                "UPDATE identity SET secret_hash = ?, tokens_from = ? WHERE name = ?",
                (hashes.secret, now, name),
            )
            _require(changed, name)
            _keep_for_mosquitto(connection, hashes)

    def revoke(self, name: str) -> None:
        """Forget an identity, and with it its tokens. Raises NotFoundError."""
        with self._connection() as connection:
            _require(connection.execute("DELETE FROM identity WHERE name = ?", (name,)), name)

    def revoke_but_last(self, name: str) -> None:
        """As `revoke`; the last one that has all rights stays. Raises ConflictError too."""
        with self._connection() as connection:
            before = _with_all_rights(connection)
            _require(connection.execute("DELETE FROM identity WHERE name = ?", (name,)), name)
            if before and not _with_all_rights(connection):
                raise ConflictError(
                    f"{name!r} is the last client with all rights",
                    "let another one in first, or use `sosa-gateway client revoke`",
                )

    def revoke_tokens(self, name: str, now: float) -> None:
        """Revoke every token that was issued until now. Raises NotFoundError."""
        with self._connection() as connection:
            changed = connection.execute(
                "UPDATE identity SET tokens_from = ? WHERE name = ?", (now, name)
            )
            _require(changed, name)

    def revoke_token(self, jti: str, expires_at: float, now: float) -> None:
        """Revoke one token; those that have expired since are forgotten."""
        with self._connection() as connection:
            connection.execute("DELETE FROM revoked_token WHERE expires_at < ?", (now,))
            connection.execute(
                "INSERT OR IGNORE INTO revoked_token VALUES (?, ?)", (jti, expires_at)
            )

    def offer_claim(self, code_hash: str, valid_s: float, tries: int) -> None:
        """Take a code that makes somebody the first client, in place of another one.

        Raises ConflictError where there are clients already.
        """
        with self._connection() as connection:
            if connection.execute("SELECT 1 FROM identity").fetchone():
                raise _claimed()
            row = (code_hash, valid_s, tries)
            connection.execute("INSERT OR REPLACE INTO claim VALUES (1, ?, ?, ?)", row)

    def charge_claim(self, seconds: float) -> None:
        """Take time off the code; one that has too little left is forgotten."""
        with self._connection() as connection:
            if connection.execute("SELECT 1 FROM claim").fetchone():
                connection.execute("DELETE FROM claim WHERE left_s < ?", (seconds,))
                connection.execute("UPDATE claim SET left_s = left_s - ?", (seconds,))

    def try_claim(self) -> str | None:
        """The code's hash, at the cost of one of its tries; None: there is no code to be tried."""
        with self._connection() as connection:
            left = connection.execute("UPDATE claim SET tries = tries - 1 WHERE tries > 0")
            found = connection.execute("SELECT code_hash FROM claim").fetchone()
            return found[0] if left.rowcount else None

    def claim(self, code_hash: str, identity: Identity) -> bool:
        """Make this the first identity, and forget the code; False where either is gone."""
        with self._connection() as connection:
            code = connection.execute("DELETE FROM claim WHERE code_hash = ?", (code_hash,))
            is_first = not connection.execute("SELECT 1 FROM identity").fetchone()
            return bool(code.rowcount) and is_first and _added(connection, identity)

    def first_key(self, key: SigningKey) -> None:
        """Take the key unless there is one: two processes may start at once."""
        with self._connection() as connection:
            if not connection.execute("SELECT 1 FROM signing_key").fetchone():
                _insert(connection, key)

    def rotate(self, key: SigningKey, *, forget_before: float) -> None:
        """Sign with `key` from now on; keys that were retired before `forget_before` go."""
        with self._connection() as connection:
            connection.execute(
                "UPDATE signing_key SET retired_at = ? WHERE retired_at IS NULL", (key.created_at,)
            )
            connection.execute("DELETE FROM signing_key WHERE retired_at <= ?", (forget_before,))
            _insert(connection, key)


def _added(connection: sqlite3.Connection, identity: Identity) -> bool:
    """Whether name and client id were nobody's."""
    added = connection.execute(
        "INSERT OR IGNORE INTO identity VALUES (?, ?, ?, ?, ?, ?, ?)", _row(identity)
    )
    if added.rowcount:
        _keep_for_mosquitto(connection, Hashes(identity.secret_hash, identity.mosquitto_hash))
    return bool(added.rowcount)


def _keep_for_mosquitto(connection: sqlite3.Connection, hashes: Hashes) -> None:
    """Beside the identities, by the hash of the same secret: versions that do not know of it do no
    harm, and what is nobody's any more goes."""
    if hashes.mosquitto:
        row = (hashes.secret, hashes.mosquitto)
        connection.execute("INSERT OR REPLACE INTO mosquitto_password VALUES (?, ?)", row)
    connection.execute(
        "DELETE FROM mosquitto_password WHERE secret_hash NOT IN (SELECT secret_hash FROM identity)"
    )


def _for_mosquitto(connection: sqlite3.Connection) -> Mapping[str, str]:
    """Mosquitto's hashes by ours; a file that an earlier version has written has none."""
    known = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'mosquitto_password'"
    if connection.execute(known).fetchone() is None:
        return {}
    return dict(connection.execute("SELECT secret_hash, password_hash FROM mosquitto_password"))


def _with_all_rights(connection: sqlite3.Connection) -> int:
    """How many can come and do everything."""
    counted: tuple[int] = connection.execute(
        "SELECT count(*) FROM identity WHERE policy = ? AND client_id IS NOT NULL",
        (encode_policy(EVERYTHING),),
    ).fetchone()
    return counted[0]


def _claimed() -> ConflictError:
    return ConflictError(
        "this gateway has clients already", "ask one of them, or see `sosa-gateway client list`"
    )


def _insert(connection: sqlite3.Connection, key: SigningKey) -> None:
    row = (key.kid, key.private_pem, key.created_at, key.retired_at)
    connection.execute("INSERT INTO signing_key VALUES (?, ?, ?, ?)", row)


def _require(changed: sqlite3.Cursor, name: str) -> None:
    if not changed.rowcount:
        raise _nobody(name)


def _nobody(name: str) -> NotFoundError:
    return NotFoundError(f"there is no client {name!r}", "see `client list`")


def _row(identity: Identity) -> tuple[str, str, str, str | None, str, float, float]:
    return (
        identity.name,
        identity.kind.value,
        encode_policy(identity.policy),
        identity.client_id or None,
        identity.secret_hash,
        identity.register_until,
        identity.tokens_from,
    )


def _identity(
    row: tuple[str, str, str, str | None, str, float, float], for_mosquitto: Mapping[str, str]
) -> Identity:
    name, kind, policy, client_id, secret_hash, register_until, tokens_from = row
    try:
        return Identity(
            name,
            Kind(kind),
            decode_policy(policy),
            client_id or "",
            secret_hash,
            register_until,
            tokens_from,
            for_mosquitto.get(secret_hash, ""),
        )
    except (ValueError, BadRequestError) as error:
        raise StorageError(
            f"the client {name!r} cannot be read: {error}", "revoke it, and add it again"
        ) from error


def read_identities(path: Path) -> Snapshot:
    """All that is in a file, which is not written. Raises StorageError."""
    with _storage(path), closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as there:
        return _snapshot(there)


def _snapshot(connection: sqlite3.Connection) -> Snapshot:
    connection.execute("BEGIN")
    rows = connection.execute("SELECT * FROM identity ORDER BY name").fetchall()
    keys = connection.execute(
        "SELECT * FROM signing_key ORDER BY retired_at IS NOT NULL, created_at DESC"
    ).fetchall()
    revoked = connection.execute("SELECT jti FROM revoked_token").fetchall()
    for_mosquitto = _for_mosquitto(connection)
    identities = [_identity(row, for_mosquitto) for row in rows]
    return Snapshot(
        {each.name: each for each in identities},
        {each.client_id: each for each in identities if each.client_id},
        tuple(SigningKey(*row) for row in keys),
        frozenset(jti for (jti,) in revoked),
    )


@contextmanager
def _storage(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise disk_error(
            f"the identities in {path} cannot be used",
            path.parent,
            error,
            "see that the file is whole, or put back a copy of it",
        ) from error
