"""Members made in folders, without a network: what tests of the membership begin with."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from gateway.federation.membership.acts import Acts, LetIn, Newcomer
from gateway.federation.membership.certificates import make_request
from gateway.federation.membership.folder import Membership, MembershipFolder
from gateway.federation.membership.invitations import Code
from gateway.federation.membership.roster import Entry, Roster

NOW = datetime(2026, 6, 1, tzinfo=UTC)
HOME = "home"


class Pi:
    """A gateway's folder, and what a person does there, `later` than the first."""

    def __init__(self, place: Path, name: str) -> None:
        self.name = name
        self.folder = MembershipFolder(place / name / "federation")

    def acts(self, later: timedelta = timedelta(0)) -> Acts:
        return Acts(self.folder, self.name, NOW + later)

    def create(self, at: str = "127.0.0.1:7447", *, hub: bool = False) -> None:
        self.acts().create(HOME, Entry((at,), hub))

    @property
    def membership(self) -> Membership:
        return self.folder.read(self.name)

    @property
    def roster(self) -> Roster:
        return self.membership.signed.roster

    def knock(
        self, ca: "Pi", code: Code, at: str = "", later: timedelta = timedelta(0)
    ) -> tuple[LetIn, bytes]:
        """Ask to be let in; what was given, and the key that it is for."""
        request = make_request(self.name)
        newcomer = Newcomer(code.secret, self.name, request.csr, (at,) if at else ())
        return ca.acts(later).let_in(newcomer), request.key

    def join(self, ca: "Pi", at: str = "", code: Code | None = None) -> None:
        """Join, as it is done over the network."""
        let_in, key = self.knock(ca, code or ca.acts().invite(), at)
        self.acts().join(ca.membership.authority, key, let_in)

    def hear(self, other: "Pi") -> None:
        """Have the roster that another one has, as over a link."""
        self.folder.write_roster(other.membership.signed)


def federation(place: Path, *names: str) -> list[Pi]:
    """Members by these names; the first has the CA."""
    pis = [Pi(place, name) for name in names]
    pis[0].create()
    for each in pis[1:]:
        each.join(pis[0])
    for each in pis[1:]:
        each.hear(pis[0])
    return pis
