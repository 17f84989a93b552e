"""`EventSource`: which members one of this gateway's events is for: those whose queries it answers.

    event -> the queries of all members, by their required patterns -> members, each with its ids

Place: at the gateway where events happen; for one thread. An event is matched once, whatever the
members and queries are, and travels once to each gateway that needs it (compare Pellegrino et al.
2013, section 3.3: the whole event is routed, and no peer asks for the rest of it).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from time import thread_time

from gateway.engine.compound.event import CompoundEvent
from gateway.engine.compound.event_queries import EventQueries
from gateway.engine.compound.event_query import EventQuery
from gateway.engine.limits import Limits
from gateway.engine.spu import EVENT, Subject
from gateway.errors import GatewayError
from gateway.federation.wire import WireError
from gateway.rdf.rights import Graphs

_MOST_TEXT = 65_536
_MOST_TEXTS = 33_554_432


class EventSource:
    """The event queries of members; `most` of one of them, with at most 32 Mi characters.

    `work_s` is what asking those of each has cost this thread, until somebody takes it.
    """

    def __init__(self, limits: Limits, most: int = 131_072) -> None:
        self.refused: list[tuple[str, int, GatewayError]] = []
        self.work_s: defaultdict[str, float] = defaultdict(float)
        self._limits = limits
        self._most = most
        self._queries = EventQueries()
        self._by_member: dict[str, dict[int, EventQuery]] = {}
        self._texts = Counter[str]()
        self._owners: dict[EventQuery, tuple[str, int]] = {}

    def __len__(self) -> int:
        return len(self._owners)

    def count(self, member: str) -> int:
        """How many of them are a member's."""
        return len(self._by_member.get(member, ()))

    def add(self, member: str, id_: int, text: str, graphs: Graphs) -> None:
        """Have a member's query; one that cannot be is noted in `refused`. Raises WireError."""
        own = self._by_member.setdefault(member, {})
        if id_ in own:
            self.remove(member, id_)
        texts = self._texts[member] + len(text)
        if len(own) >= self._most or len(text) > _MOST_TEXT or texts > _MOST_TEXTS:
            raise WireError("more event queries, or longer ones, than may be")
        try:
            query = EventQuery(Subject(text, readable=graphs, mode=EVENT))
        except GatewayError as error:
            self.refused.append((member, id_, error))
            return
        own[id_] = query
        self._texts[member] = texts
        self._owners[query] = member, id_
        self._queries.add(query)

    def remove(self, member: str, id_: int) -> None:
        """Have it no longer."""
        query = self._by_member.get(member, {}).pop(id_, None)
        if query is not None:
            self._texts[member] -= len(query.spu.subject.text)
            del self._owners[query]
            self._queries.remove(query.spu)

    def clear(self, member: str) -> None:
        """Have nothing of a member."""
        for id_ in list(self._by_member.get(member, ())):
            self.remove(member, id_)

    def reached(self, event: CompoundEvent) -> dict[str, list[int]]:
        """The members that an event is for, each with the ids of the queries that it answers."""
        found: dict[str, list[int]] = {}
        for query in self._queries.reached(event):
            member, id_ = self._owners[query]
            if self._answers(query, event, member, id_):
                found.setdefault(member, []).append(id_)
        return found

    def answered(self, member: str, ids: Iterable[int], event: CompoundEvent) -> list[int]:
        """Which of some queries of a member an event answers."""
        own = self._by_member.get(member, {})
        known = [(id_, own[id_]) for id_ in ids if id_ in own]
        return [id_ for id_, query in known if self._answers(query, event, member, id_)]

    def _answers(self, query: EventQuery, event: CompoundEvent, member: str, id_: int) -> bool:
        if not query.may_read(event):
            return False
        if query.is_chain:
            return query.is_answered(event, self._limits)
        begun = thread_time()
        try:
            return query.is_answered(event, self._limits)
        except GatewayError as error:  # nobody else notices
            self.refused.append((member, id_, error))
            self.remove(member, id_)
            return False
        finally:
            self.work_s[member] += thread_time() - begun
