"""`Roster`: who is in a federation, as its CA has signed it; a version each time that changes.

    join, remove, adopt -> next version -> signed -> over every link -> the newest is in force

Place: below all that acts on members. Whoever passes a roster on need not be believed: the CA's
signature is checked where it comes in. Of two with one number, which a CA and its copy may have
signed, all members take the same one.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gateway.errors import ConfigurationError
from gateway.federation.membership.certificates import is_signed, sign
from gateway.security.certificates import Issued

MOST_BYTES = 1_048_576
MOST_MEMBERS = 1000
MOST_PLACES = 4
_MOST_REMOVED = 10_000

_CONTEXT = b"sosa-gateway federation roster 1\n"
"""Before what is signed, so that no other signature of the CA passes for this one."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_PLACE = re.compile(r"[A-Za-z0-9_.:\[\]-]{1,253}:[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A member: where others reach it, `HOST:PORT`, perhaps nowhere; a hub relays for all."""

    at: tuple[str, ...] = ()
    is_hub: bool = False


@dataclass(frozen=True, slots=True)
class Roster:
    """One version; `authority` is the member with the CA, of which `generation` counts the moves.

    Names that were `removed` are given to nobody else by chance.
    """

    federation: str
    authority: str
    members: Mapping[str, Entry] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    generation: int = 1
    version: int = 1

    def next(
        self, members: Mapping[str, Entry], removed: tuple[str, ...] | None = None
    ) -> "Roster":
        """The version behind this one."""
        gone = self.removed if removed is None else removed[-_MOST_REMOVED:]
        return replace(self, members=members, removed=gone, version=self.version + 1)

    def others(self, member: str) -> Mapping[str, Entry]:
        """All members but one."""
        return {name: entry for name, entry in self.members.items() if name != member}

    def is_dialled(self, member: str) -> bool:
        """Whether others dial it: where there is a hub, that alone."""
        return not self.hubs or member in self.hubs

    def dialled_by(self, member: str, via: str) -> tuple[str, ...]:
        """Where a member finds those whom it has links to; `via` is one of them, or itself."""
        others = self.others(member).items()
        places = [each for name, entry in others if self.is_dialled(name) for each in entry.at]
        is_own = via in self.members[member].at
        return tuple(dict.fromkeys(places if is_own else [*places, via]))

    @property
    def hubs(self) -> frozenset[str]:
        """Who relays."""
        return frozenset(name for name, entry in self.members.items() if entry.is_hub)


@dataclass(frozen=True, slots=True)
class Signed:
    """A roster; what of it the CA signed, and the text in which that is kept and sent."""

    roster: Roster
    said: str
    text: bytes

    def is_newer_than(self, other: "Signed | None") -> bool:
        """Whether this one is to be in force in place of the other."""
        return other is None or self._rank > other._rank

    @property
    def _rank(self) -> tuple[int, int, str]:
        """By what is signed alone: who passes it on may write the rest in many ways."""
        return self.roster.generation, self.roster.version, self.said


def signed(roster: Roster, authority: Issued) -> Signed:
    """A roster as it is kept and sent."""
    members = {
        name: {"at": list(entry.at), "hub": entry.is_hub} for name, entry in roster.members.items()
    }
    said = json.dumps(
        {
            "federation": roster.federation,
            "authority": roster.authority,
            "generation": roster.generation,
            "version": roster.version,
            "members": members,
            "removed": list(roster.removed),
        },
        ensure_ascii=False,
        sort_keys=True,
    )
    signature = base64.b64encode(sign(_CONTEXT + said.encode(), authority)).decode()
    return Signed(roster, said, json.dumps({"roster": said, "signature": signature}).encode())


def read_roster(text: bytes, authority: bytes) -> Signed:
    """A roster that the CA with this certificate (PEM) signed.

    Raises ConfigurationError for anything else, before any of it is believed.
    """
    if len(text) > MOST_BYTES:
        raise ConfigurationError(f"a list of members of more than {MOST_BYTES} bytes")
    try:
        outer = json.loads(text)
        said, signature = outer["roster"], base64.b64decode(outer["signature"])
        if not is_signed(_CONTEXT + said.encode(), signature, authority):
            raise ConfigurationError("a list of members that the federation's CA has not signed")
        return Signed(_roster(json.loads(said)), said, text)
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        binascii.Error,
    ) as error:
        raise ConfigurationError(f"no list of members: {error!r:.200}") from error


def require_id(name: object) -> str:
    """A gateway's id. Raises ValueError."""
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise ValueError(f"{name!r:.80} is no id of a gateway")
    return name


def require_places(places: object) -> tuple[str, ...]:
    """Where a member is reached. Raises ValueError."""
    if not isinstance(places, list) or len(places) > MOST_PLACES:
        raise ValueError(f"more than {MOST_PLACES} places, or no list")
    for each in places:
        if not isinstance(each, str) or not _PLACE.fullmatch(each):
            raise ValueError(f"{each!r:.80} is no HOST:PORT")
    return tuple(places)


def _roster(value: Mapping[str, object]) -> Roster:
    members, removed = value["members"], value["removed"]
    if not isinstance(members, dict) or len(members) > MOST_MEMBERS:
        raise ValueError(f"more than {MOST_MEMBERS} members, or none")
    if not isinstance(removed, list) or len(removed) > _MOST_REMOVED:
        raise ValueError("removed names that are no list")
    return Roster(
        require_id(value["federation"]),
        require_id(value["authority"]),
        {
            require_id(name): Entry(require_places(entry["at"]), entry["hub"] is True)
            for name, entry in members.items()
        },
        tuple(map(require_id, removed)),
        _count(value["generation"]),
        _count(value["version"]),
    )


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**53:
        raise ValueError(f"{value!r:.40} is no number of a version")
    return value
