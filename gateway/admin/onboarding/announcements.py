"""What an announcement does to the proposals: new ones, changed ones, those that are withdrawn.

Place on the way of the data: between discovery and the scheduler, in whose thread an announcement
is taken up. What a family proposes that the configuration accepts becomes mappings in one Delta.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from pyoxigraph import Literal, NamedNode, Quad

from adapters.discovery import Discovered
from adapters.values.observation import StreamKey
from gateway.admin.onboarding.changes import Author, Kind, replacing
from gateway.admin.onboarding.confirmation import (
    defect,
    described,
    followed,
    wanted_by,
    with_own_names,
)
from gateway.admin.onboarding.mentions import Mentions
from gateway.admin.onboarding.nodes import TYPE, InStore
from gateway.admin.onboarding.proposal_graph import proposal_at
from gateway.admin.onboarding.proposals import (
    ANNOUNCED_ON,
    PROPOSAL,
    STATUS,
    Status,
    StoredProposal,
    stored,
)
from gateway.admin.onboarding.rebase import Difference, difference
from gateway.engine import Engine
from gateway.errors import ClientError
from gateway.rdf.delta import Delta, quads_delta
from gateway.rdf.namespaces import GW, PROPOSALS_GRAPH
from jsap.errors import JsapError

MOST_PROPOSALS = 10_000
"""Kept; withdrawn ones make room for new ones, beyond that new ones are passed over."""

_PART = 100
"""Proposals that are taken up in one turn of the scheduler: some 10 ms."""


@dataclass(slots=True)
class ProposalUpdate:
    """What the proposals of one message did; `refused` are no RDF, or have no room.

    `gone` are the streams of mappings whose device announces them no more.
    """

    new: int = 0
    withdrawn: int = 0
    accepted: int = 0
    refused: int = 0
    gone: list[StreamKey] = field(default_factory=list)


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


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What becomes a mapping by itself: the formats, and who would miss a property's old IRI."""

    formats: frozenset[str] = frozenset()
    mentions: Mentions | None = None


class ProposalUpdater:
    """Takes an announcement up; made for one, in the scheduler's thread."""

    def __init__(self, engine: Engine, acceptance: Acceptance) -> None:
        self.update = ProposalUpdate()
        self._engine = engine
        self._said = InStore(engine)
        self._acceptance = acceptance
        self._added: list[Quad] = []
        self._removed: list[Quad] = []
        self._accepted: list[tuple[StoredProposal, dict[NamedNode, frozenset[Quad]]]] = []
        self._room: int | None = None
        self._is_base_named: bool | None = None

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
        for each, nodes in self._accepted:
            wanted |= nodes
            self._added += described(self._engine, each, nodes[each.node])
        wanted = with_own_names(self._engine, wanted)
        author = Author("", Kind.ACCEPT, announcement.at)
        accepted, _ = replacing(self._engine, wanted, author) if wanted else (Delta(), None)
        return quads_delta([*self._added, *accepted.added], [*self._removed, *accepted.removed])

    def _propose(self, new: StoredProposal) -> None:
        old = proposal_at(self._engine, new.node)
        if old is not None and old.content == new.content and old.status is not Status.WITHDRAWN:
            if old.value(ANNOUNCED_ON) != new.value(ANNOUNCED_ON):  # it has moved to another topic
                self._exchange(old, new.with_status(old.status, old.before))
            return
        if old is None and not self._has_room():
            self.update.refused += 1
            return
        is_mapped = bool(self._said.of(new.node))
        if old is not None and old.status is Status.REJECTED:
            new = new.with_status(Status.REJECTED)
        elif old is not None and is_mapped:
            new = self._followed(old.before or old, new)
        elif not is_mapped and self._is_acceptable(new) and _is_undecided(old):
            new = self._accept(new, wanted_by(new, {}))
        self.update.new += 1
        self._exchange(old, new)

    def _followed(self, before: StoredProposal, new: StoredProposal) -> StoredProposal:
        """What has a mapping by what was announced `before`, and is announced as something else."""
        changed = difference(before.content, new.content)
        if changed is Difference.NONE:
            return new.with_status(Status.CONFIRMED)
        is_meaning = changed is Difference.MEANING
        if self._is_acceptable(new) and not (is_meaning and self._would_be_missed(before)):
            return self._accept(new, followed(self._said, before, new))
        return new.with_status(Status.CHANGED if is_meaning else Status.MOVED, before)

    def _accept(
        self, new: StoredProposal, wanted: dict[NamedNode, frozenset[Quad]]
    ) -> StoredProposal:
        accepted = new.with_status(Status.CONFIRMED)
        self._accepted.append((accepted, wanted))
        self.update.accepted += 1
        return accepted

    def _is_acceptable(self, new: StoredProposal) -> bool:
        """By the configuration: known, and without a question."""
        if new.text("family") not in self._acceptance.formats or not new.is_known:
            return False
        return not new.text("question") and not defect(new)

    def _would_be_missed(self, before: StoredProposal) -> bool:
        """Whether somebody changed the mapping, or names the property that it observes."""
        nodes = wanted_by(before, {})
        if any(self._said.of(node) != quads for node, quads in nodes.items()):
            return True
        mentions, iri = self._acceptance.mentions, before.text("observedProperty")
        if mentions is None:
            return False
        if self._is_base_named is None:  # many texts, and many proposals
            self._is_base_named = any(mentions.of_base(self._engine))
        named = mentions.of_property(self._engine, iri, frozenset(nodes))
        return self._is_base_named or any(named)

    def _exchange(self, old: StoredProposal | None, new: StoredProposal) -> None:
        self._removed += old.every if old is not None else ()
        self._added += new.every

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
            if old is None or old.status in {Status.WITHDRAWN, Status.REJECTED}:
                continue
            said = self._said.of(node)
            if said or old.status.is_open:
                self.update.withdrawn += 1
                self._exchange(old, old.with_status(Status.WITHDRAWN, old.before))
                self.update.gone += _streams(said)


def _is_undecided(old: StoredProposal | None) -> bool:
    """What somebody has taken back is never accepted again by itself."""
    return old is None or old.status is Status.PROPOSED


def _streams(said: Iterable[Quad]) -> list[StreamKey]:
    """The stream of a mapping, unless its topic fills in who observes."""
    told = {quad.predicate: quad.object for quad in said}
    nodes = [told.get(NamedNode(GW + term)) for term in ("sensor", *_STREAM)]
    sensor, observed, feature = (
        each.value if isinstance(each, NamedNode) else "" for each in nodes
    )
    return [(sensor, observed, feature)] if sensor and observed and feature else []


_STREAM = ("observedProperty", "featureOfInterest")
