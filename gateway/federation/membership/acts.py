"""What a person does with a federation: make one, let in, remove, move its CA; each one act.

Place: behind `sosa-gateway federation` and the gate of newcomers. An act holds the folder's lock,
reads what is there, and writes the next version; a gateway that runs takes it up and spreads it.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from gateway.errors import BadRequestError, ConflictError, NotFoundError, UnknownIdentityError
from gateway.federation.membership.certificates import (
    fault,
    fingerprint,
    issue,
    make_authority,
    make_request,
)
from gateway.federation.membership.folder import (
    Membership,
    MembershipFolder,
    read_authority,
)
from gateway.federation.membership.invitations import (
    MOST,
    VALID_S,
    Code,
    Invitation,
    good,
    hashed,
    new_code,
)
from gateway.federation.membership.roster import (
    MOST_MEMBERS,
    Entry,
    Roster,
    Signed,
    read_roster,
    require_id,
    signed,
)
from gateway.security.certificates import Issued

_WRONG = "the code is wrong, was used, or its day is over"


@dataclass(frozen=True, slots=True)
class Newcomer:
    """Who asks to be let in: the secret of a code, an id, a CSR (PEM), and where it is reached."""

    secret: str
    member: str
    csr: bytes
    at: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LetIn:
    """What a newcomer gets."""

    certificate: bytes
    signed: Signed


class Acts:
    """Acts on the folder of the gateway `member`, at the time that `now` tells."""

    def __init__(self, folder: MembershipFolder, member: str, now: datetime) -> None:
        self._folder = folder
        self._member = member
        self._now = now

    def create(self, federation: str, entry: Entry) -> None:
        """Make a federation with this gateway alone, which has its CA; one that is there stays.

        Raises ConflictError where this gateway is in another one, or its CA is elsewhere.
        """
        require_named(federation)
        with self._folder.locked():
            if self._folder.is_member:
                self._require_own(federation)
                return
            authority, request = make_authority(federation), make_request(self._member)
            roster = Roster(federation, self._member, {self._member: entry})
            certificate = issue(request.csr, self._member, authority, self._now)
            self._folder.write_authority(authority)
            self._folder.write(
                Membership(
                    authority.certificate, certificate, request.key, signed(roster, authority)
                )
            )

    def invite(self, member: str = "") -> Code:
        """A code for one more gateway; with `member` for that one, which may come again.

        Raises NotFoundError where the CA is elsewhere, ConflictError for too many.
        """
        if member:
            require_named(member)
        with self._folder.locked():
            authority, _ = self._own()
            code = new_code(fingerprint(authority.certificate))
            at = self._now.timestamp()
            kept = good(self._folder.invitations(), at)
            if len(kept) >= MOST:
                raise ConflictError(f"{MOST} codes are good already", "wait a day, or use them")
            kept.append(Invitation(hashed(code.secret), at + VALID_S, member))
            self._folder.write_invitations(kept)
        return code

    def has_invited(self) -> bool:
        """Whether a code is good. Raises StorageError."""
        return bool(good(self._folder.invitations(), self._now.timestamp()))

    def let_in(self, newcomer: Newcomer) -> LetIn:
        """Make a newcomer a member, and its code good for nobody else.

        Raises UnknownIdentityError for a wrong code, ConflictError for a name that is taken or was
        removed, BadRequestError for a request that cannot be.
        """
        with self._folder.locked():
            authority, roster = self._own()
            kept = good(self._folder.invitations(), self._now.timestamp())
            code = hashed(newcomer.secret)
            found = next((each for each in kept if each.secret_hash == code), None)
            if found is None or found.member not in {"", newcomer.member}:
                raise UnknownIdentityError(_WRONG, "`sosa-gateway federation create` makes another")
            _require_free(roster, newcomer.member, is_meant=bool(found.member))
            certificate = issue(newcomer.csr, newcomer.member, authority, self._now)
            members = {**roster.members, newcomer.member: Entry(newcomer.at)}
            removed = tuple(name for name in roster.removed if name != newcomer.member)
            now = signed(roster.next(members, removed), authority)
            self._folder.write_invitations([each for each in kept if each is not found])
            self._folder.write_roster(now)
        return LetIn(certificate, now)

    def join(self, authority: bytes, key: bytes, let_in: LetIn) -> Roster:
        """Be a member, by what the CA gave. Raises ConflictError, ConfigurationError."""
        wrong = fault(let_in.certificate, key, authority, self._member)
        if wrong:
            raise ConflictError(f"the CA gave a certificate that is none of ours: {wrong}")
        with self._folder.locked():
            self.require_alone()
            self._folder.write(Membership(authority, let_in.certificate, key, let_in.signed))
        return let_in.signed.roster

    def require_alone(self) -> None:
        """Raise ConflictError where this gateway is in a federation."""
        if self._folder.is_member:
            raise ConflictError(
                "this gateway is in a federation already",
                f"remove {self._folder.path} first, if it is to leave that one",
            )

    def remove(self, member: str) -> Roster:
        """Have a gateway be a member no longer; the roster without it.

        Raises NotFoundError for one that is none or where the CA is elsewhere, ConflictError for
        the one with the CA.
        """
        with self._folder.locked():
            authority, roster = self._own()
            if member not in roster.members:
                known = ", ".join(sorted(roster.members))
                raise NotFoundError(f"no gateway {member!r:.60} is a member", f"those are {known}")
            if member == self._member:
                raise ConflictError(
                    "this gateway has the federation's CA",
                    "have another one `adopt` it, and remove this one there",
                )
            now = roster.next(roster.others(member), (*roster.removed, member))
            self._folder.write_roster(signed(now, authority))
        return now

    def adopt(self, saved: Path) -> Roster:
        """Have the CA here, of which somebody saved a copy.

        Raises ConfigurationError for another one, NotFoundError where this gateway is no member.
        """
        authority = read_authority(saved)
        with self._folder.locked():
            own = self._folder.read(self._member)
            if fingerprint(authority.certificate) != fingerprint(own.authority):
                raise ConflictError(
                    f"{saved} is the CA of another federation",
                    f"this gateway is in {own.signed.roster.federation}",
                )
            roster = own.signed.roster
            if roster.authority != self._member:
                members = {
                    name: replace(entry, is_hub=False) for name, entry in roster.members.items()
                }
                roster = replace(
                    roster.next(members),
                    authority=self._member,
                    generation=roster.generation + 1,
                )
            now = signed(roster, authority)
            read_roster(now.text, own.authority)  # the key is that of the certificate
            self._folder.write_authority(authority)
            self._folder.write_roster(now)
        return now.roster

    def place(self, entry: Entry) -> bool:
        """Have this gateway, which has the CA, reached elsewhere, or be a hub, from now on.

        False where that is so already. Raises NotFoundError where the CA is elsewhere.
        """
        with self._folder.locked():
            authority, roster = self._own()
            if roster.members.get(self._member) == entry:
                return False
            members = {**roster.members, self._member: entry}
            self._folder.write_roster(signed(roster.next(members), authority))
            return True

    def renew(self, member: str, csr: bytes) -> bytes:
        """A member's next certificate (PEM). Raises NotFoundError, BadRequestError."""
        authority, roster = self._own()
        if member not in roster.members:
            raise NotFoundError(f"{member:.60} is no member whose certificate is renewed here")
        return issue(csr, member, authority, self._now)

    def _own(self) -> tuple[Issued, Roster]:
        """The CA, and what it signed last. Raises NotFoundError where it is elsewhere (by now)."""
        authority = self._folder.read_authority()
        roster = self._folder.roster(authority.certificate).roster
        if roster.authority != self._member:
            raise NotFoundError(
                f"{roster.authority} has the CA of the federation by now",
                f"do this there, or remove {self._folder.saved_authority} and adopt it again",
            )
        return authority, roster

    def _require_own(self, federation: str) -> None:
        roster = self._folder.read(self._member).signed.roster
        if roster.federation != federation:
            raise ConflictError(
                f"this gateway is in the federation {roster.federation} already",
                f"remove {self._folder.path} first, if it is to leave that one",
            )
        self._own()


def require_named(name: str) -> None:
    """Raise BadRequestError for what is no name of a federation, or id of a gateway."""
    try:
        require_id(name)
    except ValueError as error:
        raise BadRequestError(
            f"{name!r:.80} is no name here",
            "use 1 to 64 letters, digits, '_', '-' or '.', a letter or digit first",
        ) from error


def _require_free(roster: Roster, member: str, *, is_meant: bool) -> None:
    require_named(member)
    again = (
        f"`sosa-gateway federation create {roster.federation} --for {member}` lets it come again"
    )
    if member in roster.members and not is_meant:
        raise ConflictError(f"{member} is a member already", f"set [gateway] id; or {again}")
    if member == roster.authority:
        raise ConflictError(f"{member} has the CA", "set [gateway] id")
    if member in roster.removed and not is_meant:
        raise ConflictError(f"{member} was removed", f"set another [gateway] id; or {again}")
    if member not in roster.members and len(roster.members) >= MOST_MEMBERS:
        raise ConflictError(f"there are {MOST_MEMBERS} members", "remove some")
