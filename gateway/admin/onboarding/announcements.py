"""What an announcement does to the proposals: new ones, changed ones, those that are withdrawn.

Place on the way of the data: between discovery and the scheduler, in whose thread an announcement
is taken up. What a family proposes that the configuration accepts becomes mappings in one Delta.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from pyoxigraph import Literal, NamedNode, Quad

from adapters.discovery import Discovered
from gateway.admin.onboarding.changes import Author, Kind, replacing
from gateway.admin.onboarding.confirmation import defect, described, wanted_by, with_own_names
from gateway.admin.onboarding.nodes import TYPE
from gateway.admin.onboarding.proposal_graph import proposal_at
from gateway.admin.onboarding.proposals import (
    ANNOUNCED_ON,
    PROPOSAL,
    STATUS,
    Status,
    StoredProposal,
    stored,
)
from gateway.engine import Engine
from gateway.errors import ClientError
from gateway.rdf.delta import Delta, quads_delta
from gateway.rdf.namespaces import MAPPINGS_GRAPH, PROPOSALS_GRAPH
from jsap.errors import JsapError

MOST_PROPOSALS = 10_000
"""Kept; withdrawn ones make room for new ones, beyond that new ones are passed over."""

_PART = 100
"""Proposals that are taken up in one turn of the scheduler: some 10 ms."""


@dataclass(slots=True)
class ProposalUpdate:
    """What the proposals of one message did; `refused` are no RDF, or have no room."""

    new: int = 0
    withdrawn: int = 0
    accepted: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Announcement:
    """What a message proposed, on which topic and when.

    `is_whole`: it says all there is on its topic, so that what it leaves out is withdrawn.
    `beside` are IRIs of mappings that it proposed too, in another part.
    """

    discovered: Discovered
    topic: str
    at: datetime
    is_whole: bool
    beside: frozenset[str] = frozenset()

    def parts(self) -> "Iterator[Announcement]":
        """In turns that do not hold up the writer for long; the last one withdraws."""
        found = self.discovered
        for first in range(0, len(found.proposals), _PART):
            part = Discovered(found.family, found.proposals[first : first + _PART])
            yield replace(self, discovered=part, is_whole=False)
        told = frozenset(proposal.mapping.iri for proposal in found.proposals)
        if self.is_whole or found.withdrawn:
            yield replace(self, discovered=replace(found, proposals=()), beside=told)


class ProposalUpdater:
    """Takes an announcement up; made for one, in the scheduler's thread."""

    def __init__(self, engine: Engine, auto: frozenset[str]) -> None:
        self.update = ProposalUpdate()
        self._engine = engine
        self._auto = auto
        self._added: list[Quad] = []
        self._removed: list[Quad] = []
        self._accepted: list[StoredProposal] = []
        self._room: int | None = None

    def take(self, announcement: Announcement) -> Delta:
        """The change; an empty one where nothing is new."""
        discovered = announcement.discovered
        by_iri = {proposal.mapping.iri: proposal for proposal in discovered.proposals}
        for proposal in by_iri.values():
            try:
                self._propose(stored(proposal, announcement.topic, announcement.at))
            except (JsapError, ClientError, ValueError):
                self.update.refused += 1
        self._withdraw(announcement, announcement.beside | set(by_iri))
        wanted: dict[NamedNode, frozenset[Quad]] = {}
        for each in self._accepted:
            wanted |= wanted_by(each, {})
            self._added += described(self._engine, each, wanted[each.node])
        wanted = with_own_names(self._engine, wanted)
        author = Author("", Kind.ACCEPT, announcement.at)
        accepted, _ = replacing(self._engine, wanted, author) if wanted else (Delta(), None)
        return quads_delta([*self._added, *accepted.added], [*self._removed, *accepted.removed])

    def _propose(self, new: StoredProposal) -> None:
        old = proposal_at(self._engine, new.node)
        if old is not None and old.content == new.content and old.status is not Status.WITHDRAWN:
            return
        if old is None and not self._has_room():
            self.update.refused += 1
            return
        if old is not None and old.status is Status.REJECTED:
            new = new.with_status(Status.REJECTED)
        elif self._may_accept(old, new):
            new = new.with_status(Status.CONFIRMED)
            self._accepted.append(new)
            self.update.accepted += 1
        self.update.new += 1
        self._exchange(old, new)

    def _exchange(self, old: StoredProposal | None, new: StoredProposal) -> None:
        self._removed += old.every if old is not None else ()
        self._added += new.every

    def _may_accept(self, old: StoredProposal | None, new: StoredProposal) -> bool:
        """By the configuration: known, without a question, and over nobody's own mapping."""
        if new.text("family") not in self._auto or not new.is_known:
            return False
        if new.text("question") or defect(new):
            return False
        now = frozenset(self._engine.store.match(new.node, None, None, MAPPINGS_GRAPH))
        if old is None:
            return not now
        was_ours = bool(now) and now == wanted_by(old, {})[old.node]
        return was_ours or (not now and old.status is Status.PROPOSED)

    def _has_room(self) -> bool:
        """Whether one more may be kept; a withdrawn one goes for it where there are too many."""
        store = self._engine.store
        if self._room is None:
            self._room = MOST_PROPOSALS - len(store.match(None, TYPE, PROPOSAL, PROPOSALS_GRAPH))
        self._room -= 1
        if self._room >= 0:
            return True
        for quad in store.match(None, STATUS, Status.WITHDRAWN.term, PROPOSALS_GRAPH):
            old = proposal_at(self._engine, quad.subject)  # type: ignore[arg-type]
            if old is not None and not self._removed_has(old):
                self._removed += old.every
                return True
        return False

    def _removed_has(self, old: StoredProposal) -> bool:
        return next(iter(old.quads)) in self._removed

    def _withdraw(self, announcement: Announcement, proposed: frozenset[str]) -> None:
        gone = {NamedNode(iri) for iri in announcement.discovered.withdrawn}
        if announcement.is_whole:
            topic = Literal(announcement.topic)
            there = self._engine.store.match(None, ANNOUNCED_ON, topic, PROPOSALS_GRAPH)
            gone |= {quad.subject for quad in there if isinstance(quad.subject, NamedNode)}
        for node in sorted(gone, key=str):
            old = proposal_at(self._engine, node) if node.value not in proposed else None
            if old is not None and old.status is Status.PROPOSED:
                self.update.withdrawn += 1
                self._exchange(old, old.with_status(Status.WITHDRAWN))
