"""`EventQueries`: all queries of mode `event`, by what an event must have for them.

    event -> look-up of its predicates in their order, else of each triple -> the queries

Place: between an event and the queries. Each query stands under one of its required patterns, the
one that says most, so an event costs a few look-ups for each triple, however many queries there
are. Source: Pellegrino et al. 2013, section 3.2.
"""

from collections.abc import Iterable, Mapping, Sequence

from gateway.engine.compound.event import LAID_OUT, CompoundEvent, Layout, Stated
from gateway.engine.compound.event_query import EventQuery
from gateway.engine.lutt import LuttEntry
from gateway.engine.spu import Spu
from gateway.rdf.terms import Term

_Owners = dict[EventQuery, None]
_Key = tuple[Term | None, Term | None]
"""Subject and object of an entry; None is a wildcard."""

_Mask = tuple[bool, bool]
"""Which of them are constants."""

_LAYOUTS = 512
"""For so many layouts of events it is known which queries they reach, until these change."""


class EventQueries:
    """The queries in the order in which they came; equal ones are one."""

    def __init__(self) -> None:
        self._by_spu: dict[Spu, EventQuery] = {}
        self._always: _Owners = {}
        self._tables: dict[Term | None, dict[_Key, _Owners]] = {}
        self._masks: dict[Term | None, dict[_Mask, int]] = {}
        self._laid_out: dict[Layout, tuple[Layout, Sequence[EventQuery]]] = {}

    def __len__(self) -> int:
        return len(self._by_spu)

    def of(self, spu: Spu) -> EventQuery:
        """The query of an SPU, which is one of these."""
        return self._by_spu[spu]

    def add(self, query: EventQuery) -> None:
        """Have it looked at for the events that have its key."""
        self._by_spu[query.spu] = query
        self._laid_out.clear()
        key = query.key
        if key is None:
            self._always[query] = None
            return
        table = self._tables.setdefault(key.predicate, {})
        table.setdefault(_ends(key), {})[query] = None
        masks = self._masks.setdefault(key.predicate, {})
        masks[_mask(key)] = masks.get(_mask(key), 0) + 1

    def remove(self, spu: Spu) -> EventQuery:
        """The reverse of `add`; leaves no empty table behind."""
        query = self._by_spu.pop(spu)
        self._laid_out.clear()
        key = query.key
        if key is None:
            del self._always[query]
            return query
        table, masks = self._tables[key.predicate], self._masks[key.predicate]
        del table[_ends(key)][query]
        if not table[_ends(key)]:
            del table[_ends(key)]
        masks[_mask(key)] -= 1
        if not masks[_mask(key)]:
            del masks[_mask(key)]
        if not table:
            del self._tables[key.predicate], self._masks[key.predicate]
        return query

    def reached(self, event: CompoundEvent) -> Sequence[EventQuery]:
        """The queries whose key the event has, and those that every event may concern."""
        known = self._laid_out.get(event.layout) if len(event) <= LAID_OUT else None
        if known is not None:
            layout, found = known
            event.has_layout(layout)
            return found
        found = tuple(self._looked_up(event))
        if event.is_short and self._is_as_laid_out(event):
            if len(self._laid_out) >= _LAYOUTS:
                self._laid_out.clear()
            self._laid_out[event.layout] = event.layout, found
        return found

    def _is_as_laid_out(self, event: CompoundEvent) -> bool:
        """Whether all events of the layout reach the same queries."""
        known = self._masks
        looked_at = (known.get(None), *map(known.get, event.layout))
        return all(masks is None or masks.keys() == {_WILD} for masks in looked_at)

    def _looked_up(self, event: CompoundEvent) -> _Owners:
        found, known = dict(self._always), self._masks
        wild = known.get(None)
        for predicate, triples in event.by_predicate.items():
            masks = known.get(predicate)
            if masks:
                self._look(self._tables[predicate], masks, triples, found)
            if wild:
                self._look(self._tables[None], wild, triples, found)
        return found

    @staticmethod
    def _look(
        table: Mapping[_Key, _Owners],
        masks: Iterable[_Mask],
        triples: Sequence[Stated],
        found: _Owners,
    ) -> None:
        for mask in masks:
            if mask == _WILD:  # most are
                found.update(table[_ANY])
                continue
            for key in _keys(mask, triples):
                owners = table.get(key)
                if owners:
                    found.update(owners)


def _ends(entry: LuttEntry) -> _Key:
    return entry.subject, entry.object


def _mask(entry: LuttEntry) -> _Mask:
    return entry.subject is not None, entry.object is not None


def _keys(mask: _Mask, triples: Sequence[Stated]) -> Iterable[_Key]:
    """The keys of a kind that the triples have."""
    match mask:
        case (True, True):
            return [(each.subject, each.object) for each in triples]
        case (True, False):
            return [(each.subject, None) for each in triples]
        case _:
            return [(None, each.object) for each in triples]


_WILD: _Mask = (False, False)
_ANY: _Key = (None, None)
