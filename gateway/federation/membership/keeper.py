"""`Keeper`: has the newest version of its federation in force, and passes it on.

    folder, what members send -> newest roster -> links by it; certificate -> renewed in time

Place: beside the service of a gateway that runs, for the event loop; files are read and signatures
checked in another thread. What commands write here is taken up within a second. A member that is
told of a newer version than its own keeps it, whoever tells it: the CA has signed it.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from gateway.errors import BadRequestError, ConfigurationError, GatewayError, NotFoundError
from gateway.federation.carrier import Channel, Received
from gateway.federation.membership.acts import Acts
from gateway.federation.membership.certificates import RENEW, fault, request_again
from gateway.federation.membership.folder import Membership, MembershipFolder
from gateway.federation.membership.letters import packed, unpacked
from gateway.federation.membership.links import MemberLinks
from gateway.federation.membership.roster import Entry, Roster, read_roster
from gateway.federation.wire import WireError
from gateway.runtime.alarms import AlarmKind, Condition
from gateway.security.certificates import expires_at

log = logging.getLogger(__name__)

LOOK_S = 1.0
_WAITING = 4
"""Messages of one member that wait: more of them say the same."""

_MOST_TOLD = 600
"""Messages about members that one of them may send within `_WINDOW_S`."""
_WINDOW_S = 60.0
_ASK_AGAIN_S = 3600.0


@dataclass(frozen=True, slots=True)
class Own:
    """This gateway: its id, and its entry in the roster where it has the CA."""

    member: str
    entry: Entry


class _Told(NamedTuple):
    """What came from a member, and when."""

    sender: str
    payload: bytes


class Keeper:
    """Follows a folder; `changed` is told who the others are, `wrong` of who sends nonsense.

    Whom `is_ignored` names is not heard; it is asked in any thread.
    """

    def __init__(
        self,
        folder: MembershipFolder,
        own: Own,
        links: MemberLinks,
        now: Callable[[], datetime],
        *,
        changed: Callable[[frozenset[str]], None],
        wrong: Callable[[str, str], None],
        is_ignored: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.membership: Membership | None = None
        self._folder = folder
        self._own = own
        self._links = links
        self._now = now
        self._changed = changed
        self._wrong = wrong
        self._is_ignored = is_ignored
        self._stamp: tuple[int, ...] | None = None
        self._trouble = ""
        self._told: dict[str, list[float]] = {}
        self._wait = Counter[str]()
        self._renew_at = 0.0
        self._waiting: asyncio.Queue[_Told] = asyncio.Queue()
        self._loop: asyncio.AbstractEventLoop

    @property
    def roster(self) -> Roster | None:
        """The version in force."""
        return None if self.membership is None else self.membership.signed.roster

    async def begin(self) -> None:
        """Have in force what the folder has; before the first link."""
        self._loop = asyncio.get_running_loop()
        self._links.about_members, self._links.came = self._hear, self._came
        await asyncio.to_thread(self._look)

    async def run(self) -> None:
        """Go on so, until cancelled."""
        while True:
            told = None
            try:
                async with asyncio.timeout(LOOK_S):
                    told = await self._waiting.get()
            except TimeoutError:
                pass
            if told is not None:
                self._wait[told.sender] -= 1
                await asyncio.to_thread(self._take, told)
            await asyncio.to_thread(self._look)

    def conditions(self) -> Iterator[Condition]:
        """Why this gateway hears nobody."""
        hint = "see `sosa-gateway federation check`"
        if self._trouble:
            yield Condition(AlarmKind.FEDERATION, "membership", self._trouble, hint)
        if self._links.trouble:
            yield Condition(AlarmKind.FEDERATION, "links", self._links.trouble, hint)

    def _hear(self, message: Received) -> None:
        """In a thread of the carrier."""
        if not self._is_ignored(message.sender):
            self._loop.call_soon_threadsafe(self._put, _Told(message.sender, message.payload))

    def _put(self, told: _Told) -> None:
        now = time.monotonic()
        recent = [at for at in self._told.get(told.sender, ()) if now - at < _WINDOW_S]
        recent.append(now)
        if len(recent) > _MOST_TOLD:
            recent.clear()
            self._wrong(told.sender, "it tells of members without end")
        elif self._wait[told.sender] < _WAITING:  # what is lost comes with the next one who comes
            self._wait[told.sender] += 1
            self._waiting.put_nowait(told)
        self._told[told.sender] = recent

    def _came(self, member: str) -> None:
        """Tell a member that came what is in force here; in a thread of the carrier."""
        membership = self.membership
        if membership is not None:
            self._say(member, "roster", membership.signed.text)
            if member == membership.signed.roster.authority:
                self._renew_at = 0.0  # what was asked before it may not have heard

    def _say(self, member: str, kind: str, content: bytes) -> None:
        self._links.send(member, Channel.MEMBERS, packed(kind, content))

    def _look(self) -> None:
        """Take up what the folder has; not for the event loop."""
        try:
            stamp = self._folder.stamp
            if stamp != self._stamp:
                self._read()
                if self._has_placed_itself():
                    self._read()
                self._stamp = stamp
            self._links.again()
            self._renew_in_time()
        except NotFoundError as error:
            self._stamp = self._folder.stamp
            self._trouble = str(error)
            self._be(None)
        except GatewayError as error:
            self._trouble = str(error)

    def _has_placed_itself(self) -> bool:
        """Where the CA is here, have the roster say where this gateway is reached now."""
        membership = self.membership
        if membership is None or membership.signed.roster.authority != self._own.member:
            return False
        if not self._folder.saved_authority.exists():
            self._trouble = f"the CA was here, and {self._folder.saved_authority} is gone"
            return False
        return Acts(self._folder, self._own.member, self._now()).place(self._own.entry)

    def _read(self) -> None:
        membership = self._folder.read(self._own.member)
        roster = membership.signed.roster
        if self._own.member not in roster.members:
            self._pass_on(membership)
            raise NotFoundError(
                f"this gateway was removed from the federation {roster.federation}",
                f"remove {self._folder.path} to be in none, or to join again",
            )
        self._trouble = ""
        self._pass_on(membership)
        self._be(membership)

    def _pass_on(self, membership: Membership) -> None:
        """Tell those who are there, and those whom the new version leaves out, while it can."""
        known = self.membership
        if known is None or membership.signed.is_newer_than(known.signed):
            for member in sorted(self._links.up):
                self._say(member, "roster", membership.signed.text)

    def _be(self, membership: Membership | None) -> None:
        if membership == self.membership:
            return
        self.membership = membership
        own = self._own.member
        roster = None if membership is None else membership.signed.roster
        others = frozenset[str]() if roster is None else frozenset(roster.others(own))
        log.info("federation_members", extra={"members": sorted(others)})
        self._changed(others)
        self._links.open(membership)

    def _take(self, told: _Told) -> None:
        """What a member says about members; not for the event loop."""
        membership = self.membership
        if membership is None:
            return
        try:
            kind, content = unpacked(told.payload)
            match kind:
                case "roster":
                    self._take_roster(membership, content)
                case "renew":
                    self._renew(told.sender, content)
                case "certificate":
                    self._take_certificate(membership, content)
                case _:  # of a later version
                    pass
        except (WireError, BadRequestError, ConfigurationError) as error:
            if told.sender in self._links.up:  # else of a link that is half open
                self._wrong(told.sender, str(error))
        except GatewayError as error:
            log.warning("federation_not_done", extra={"peer": told.sender, "reason": str(error)})

    def _take_roster(self, membership: Membership, content: bytes) -> None:
        came = read_roster(content, membership.authority)
        if came.is_newer_than(membership.signed):
            with self._folder.locked():
                if came.is_newer_than(self._folder.roster(membership.authority)):
                    self._folder.write_roster(came)

    def _renew(self, sender: str, csr: bytes) -> None:
        acts = Acts(self._folder, self._own.member, self._now())
        self._say(sender, "certificate", acts.renew(sender, csr))

    def _take_certificate(self, membership: Membership, content: bytes) -> None:
        wrong = fault(content, membership.key, membership.authority, self._own.member)
        if wrong:
            raise WireError(f"a certificate that is none of ours: {wrong}")
        if expires_at(content) > expires_at(membership.certificate):
            self._folder.write_certificate(content)

    def _renew_in_time(self) -> None:
        """Ask the CA for another certificate, while this one is good for years."""
        membership, now = self.membership, time.monotonic()
        if membership is None or now < self._renew_at:
            return
        self._renew_at = now + _ASK_AGAIN_S
        if expires_at(membership.certificate) - self._now() > RENEW:
            return
        authority = membership.signed.roster.authority
        csr = request_again(self._own.member, membership.key)
        if authority == self._own.member:
            acts = Acts(self._folder, authority, self._now())
            self._folder.write_certificate(acts.renew(authority, csr))
        else:  # where it is away, it is asked when it comes
            self._say(authority, "renew", csr)
