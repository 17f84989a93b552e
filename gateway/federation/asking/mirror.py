"""`Mirror`: the merge of what several gateways have, as an engine that answers queries on it.

    steps of replicas, changes of this gateway -> how many have each quad -> an engine in memory

Place: at the gateway that asks, for one scope; for one thread. A quad is there while at least one
member has it, so only the first that comes and the last that goes are changes. A member is in it
from the step on in which all that the mirror's queries need of it is known; each notification says
where all members stood. Store, journal and archive never see what is here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyoxigraph import Quad

from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.engine.lutt import LuttEntry
from gateway.engine.notification import Federated
from gateway.federation.replica import Step
from gateway.journal.event_position import EventPosition
from gateway.rdf.delta import Delta
from gateway.store.update import change


@dataclass(frozen=True, slots=True)
class Share:
    """What is known of one member: its quads, and where it stands."""

    quads: Iterable[Quad]
    position: EventPosition


class Mirror:
    """An engine on the merge; `clock` is that of the gateway."""

    def __init__(self, engine: Engine) -> None:
        self.positions: dict[str, EventPosition] = {}
        self._engine = engine
        self._holders: Counter[Quad] = Counter()
        self._held: dict[str, set[Quad]] = {}
        self._entries: dict[str, frozenset[LuttEntry]] = {}

    @property
    def entries(self) -> frozenset[LuttEntry]:
        """What its queries need of each member."""
        return frozenset[LuttEntry]().union(*self._entries.values())

    @property
    def members(self) -> frozenset[str]:
        """Who is in it."""
        return frozenset(self._held)

    def has(self, member: str) -> bool:
        """Whether a member is in it."""
        return member in self._held

    @property
    def is_idle(self) -> bool:
        """Whether nobody subscribes."""
        return not self._entries

    @property
    def quads(self) -> int:
        """How many it has."""
        return len(self._holders)

    def subscribe(self, request: SubscribeRequest, entries: frozenset[LuttEntry]) -> Notification:
        """The first notification of a query that needs these entries, which all members give."""
        first = self._engine.subscribe(request)
        self._entries[first.spuid] = entries
        return first._replace(federation=self._vector())

    def unsubscribe(self, spuid: str) -> None:
        """End a subscription. Raises NotFoundError."""
        self._engine.unsubscribe(spuid)
        del self._entries[spuid]

    def join(self, member: str, share: Share) -> list[Notification]:
        """Let a member be in it, with all that it has, as one step."""
        self._held[member] = set()
        return self.step(member, Step(Delta(tuple(share.quads)), share.position, True))

    def leave(self, member: str) -> list[Notification]:
        """Let a member not be in it, as one step."""
        held = self._held.pop(member, None)
        if held is None:
            return []
        del self.positions[member]
        return self._applied(self._counted((), held), is_merged=True)

    def step(self, member: str, step: Step) -> list[Notification]:
        """A change of one member, who is in it; what it tells subscribers."""
        held, delta = self._held[member], step.delta
        removed = [quad for quad in delta.removed if quad in held]
        added = [quad for quad in delta.added if quad not in held]
        held.difference_update(removed)
        held.update(added)
        self.positions[member] = step.position
        return self._applied(self._counted(added, removed), is_merged=step.is_merged)

    def vector(self) -> Mapping[str, str]:
        """Where all members stand."""
        return {member: str(self.positions[member]) for member in sorted(self.positions)}

    def close(self) -> None:
        """Forget all."""
        self._engine.close()

    def _vector(self) -> Federated:
        return Federated(self.vector())

    def _counted(self, added: Iterable[Quad], removed: Iterable[Quad]) -> Delta:
        """Only the first holder and the last are a change."""
        holders, gone, new = self._holders, [], []
        for quad in removed:
            holders[quad] -= 1
            if not holders[quad]:
                del holders[quad]
                gone.append(quad)
        for quad in added:
            holders[quad] += 1
            if holders[quad] == 1:
                new.append(quad)
        return Delta(tuple(new), tuple(gone))

    def _applied(self, delta: Delta, *, is_merged: bool) -> list[Notification]:
        if not (delta.added or delta.removed):
            return []
        told = self._engine.update([change(delta)]).notifications
        place = self._vector()._replace(merged=is_merged)
        return [each._replace(federation=place) for each in told]
