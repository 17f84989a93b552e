"""The code by which a new device gets its first client: made anew at each start until it is used.

Kept is only one that somebody chose, in a file of root's, and only until a client is there.
"""

from pathlib import Path

from gateway.appliance.system_files import PRIVATE
from gateway.errors import ConflictError
from gateway.runtime.durable_files import as_owner, write_durably
from gateway.security.claim import offer
from gateway.security.identity_store import IdentityStore

CHOSEN = "appliance/claim-code"
"""Below the folder of data."""


def choose(data: Path, code: str) -> None:
    """Keep what somebody chose. Raises OSError."""
    write_durably(data / CHOSEN, f"{code}\n".encode(), PRIVATE)


def offered(data: Path, state: Path) -> str:
    """The code of this start; "" where the gateway, with its data in `state`, has clients.

    What is written belongs to the owner of `state`, whoever calls. Raises StorageError, OSError.
    """
    chosen = data / CHOSEN
    code = chosen.read_text(encoding="ascii").strip() if chosen.exists() else ""
    try:
        with as_owner(state):
            return offer(IdentityStore(state / "security" / "identities.sqlite"), code)
    except ConflictError:
        chosen.unlink(missing_ok=True)
        return ""
