"""The code by which a new device gets its first client: made anew at each start until it is used.

Kept is only one that somebody chose, in a file of root's, and only until a client is there.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gateway.appliance.system_files import PRIVATE
from gateway.errors import ConflictError
from gateway.runtime.durable_files import write_durably
from gateway.security.claim import offer
from gateway.security.identity_store import IdentityStore

CHOSEN = "appliance/claim-code"
"""Below the folder of data."""


def choose(data: Path, code: str) -> None:
    """Keep what somebody chose. Raises OSError."""
    write_durably(data / CHOSEN, f"{code}\n".encode(), PRIVATE)


def offered(data: Path, state: Path) -> str:
    """The code of this start; "" where the gateway, with its data in `state`, has clients.

    What is written belongs to the owner of `state`, whoever calls. Raises StorageError.
    """
    chosen = data / CHOSEN
    code = chosen.read_text(encoding="ascii").strip() if chosen.exists() else ""
    try:
        with _as_owner(state):
            return offer(IdentityStore(state / "security" / "identities.sqlite"), code)
    except ConflictError:
        chosen.unlink(missing_ok=True)
        return ""


@contextmanager
def _as_owner(folder: Path) -> Iterator[None]:
    """Root writes as the gateway's user: what root owned, the gateway could not open."""
    if os.geteuid() != 0:
        yield
        return
    owner = folder.stat()
    old_mask = os.umask(0o077)
    os.setegid(owner.st_gid)
    os.seteuid(owner.st_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.umask(old_mask)
