"""`Onboarding`: what the API can ask about mappings and do to them; also runs discovery.

A facade over the parts of this package. Its coroutines are called on the event loop; what reads or
changes mappings runs in the scheduler's thread.
"""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pyoxigraph import NamedNode, Quad

from adapters.registry import Registry
from adapters.values.mapping import MappingError
from adapters.values.message import Message
from adapters.values.observation import StreamKey
from adapters.values.proposal import Names
from gateway.admin.onboarding.announcements import (
    Acceptance,
    Announcement,
    ProposalUpdate,
    ProposalUpdater,
)
from gateway.admin.onboarding.changes import (
    Author,
    Kind,
    MappingChange,
    history,
    refuse_unit,
    replacing,
    require_good,
    undoing,
)
from gateway.admin.onboarding.confirmation import Left, confirming, deciding
from gateway.admin.onboarding.discovery import DiscoveryWorker
from gateway.admin.onboarding.edits import Edits, mapping_node
from gateway.admin.onboarding.mentions import Mentions, Texts
from gateway.admin.onboarding.migration import Migration, inverted, migration
from gateway.admin.onboarding.nodes import (
    InStore,
    Members,
    described,
    queried_nodes,
    said_of,
    stored_nodes,
)
from gateway.admin.onboarding.proposal_graph import (
    all_proposals,
    find,
    proposal_at,
    proposal_nodes,
    status_of,
)
from gateway.admin.onboarding.proposals import Status, StoredProposal
from gateway.admin.onboarding.trial import Believe, Trial, Writing, try_message
from gateway.admin.onboarding.unknown import UnknownTopic, UnknownTopics
from gateway.admin.onboarding.unread import Unread, guessed
from gateway.admin.onboarding.violations import Violation, violations
from gateway.engine import Engine
from gateway.errors import (
    ConflictError,
    GatewayError,
    InvalidMappingError,
    NotFoundError,
    StorageError,
    TooManyRequestsError,
)
from gateway.ingest.mappings import MappingTable, mapping_of
from gateway.rdf.delta import Delta, quads_delta
from gateway.rdf.namespaces import MAPPINGS_GRAPH
from gateway.scheduler.scheduler import Scheduler

log = logging.getLogger(__name__)

_TRIES = 50
_PAUSE_S = 0.1


Decide = Callable[[Engine], tuple[Delta, MappingChange | None]]
"""What to change, and its record."""


@dataclass(frozen=True, slots=True)
class OnboardingSettings:
    """How onboarding works: names of proposals, whose announcements are taken and accepted."""

    names: Names
    families: frozenset[str]
    auto: frozenset[str]
    topics: int
    topic_bytes: int
    texts: Texts = dict


@dataclass(frozen=True, slots=True)
class Found:
    """A proposal with what has become of it."""

    proposal: StoredProposal
    status: Status


class Onboarding:
    """One for each gateway."""

    def __init__(
        self,
        scheduler: Scheduler,
        mappings: MappingTable,
        writing: Callable[[], Writing],
        settings: OnboardingSettings,
        *,
        believe: Believe | None = None,
        gone: Callable[[Sequence[StreamKey]], None] = lambda _: None,
    ) -> None:
        self.unknown = UnknownTopics(settings.topics, settings.topic_bytes)
        self._scheduler = scheduler
        self._mappings = mappings
        self._writing = writing
        self._believe = believe
        self._gone = gone
        self._mentions = Mentions(f"{settings.names.properties}property/", settings.texts)
        self._acceptance = Acceptance(settings.auto, self._mentions)
        self._loop = asyncio.get_running_loop()
        self._trying = asyncio.Semaphore(1)
        self._reading = asyncio.Semaphore(2)
        self._unread = Unread(lambda: mappings.mappings)
        self.discovery = DiscoveryWorker(
            self._take_up,
            self.unknown,
            self._unread.others,
            settings.names,
            families=settings.families,
            auto=settings.auto,
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Listen as long as the block lasts."""
        thread = threading.Thread(target=self.discovery.run, name="discovery", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.discovery.stop()
            await asyncio.to_thread(thread.join)

    def observe(self, message: Message) -> None:
        """Take note of a message that ingest is not given, or not by us; in any thread."""
        self.discovery.observe(message, self._mappings.registry.knows(message.topic))

    async def mappings(self) -> Sequence[Members]:
        """All mappings, as a profile's JSON."""
        engine = self._scheduler.engine
        async with self._reading:
            return await asyncio.to_thread(lambda: described(queried_nodes(engine, MAPPINGS_GRAPH)))

    def unknown_topics(self) -> list[UnknownTopic]:
        """The topics that no mapping knows now, the last heard first.

        Of a topic that a mapping reads, what is guessed of its other members.
        """
        left, done = self._unread.among(self.unknown.list())
        self.unknown.forget(done)
        return left

    async def proposals(self) -> list[Found]:
        """What devices announced, by family, device and label."""
        engine = self._scheduler.engine
        async with self._reading:
            return await asyncio.to_thread(lambda: _found(engine, all_proposals(engine)))

    async def proposal(self, id_: str) -> Found:
        """One proposal, or a guess about an unknown topic. Raises NotFoundError."""
        (node, guess), *_ = (await self._named([id_])).items()
        return await self._scheduler.look(lambda engine: _one(engine, node, guess))

    async def confirm(
        self, ids: Sequence[str], changes: Mapping[str, object], identity: str
    ) -> tuple[MappingChange | None, Sequence[Left]]:
        """Make proposals, or guesses about unknown topics, mappings; None where they are already.

        Of several, those that do not compile are left. Raises NotFoundError, InvalidMappingError.
        """
        named = await self._named(ids)

        def choose(engine: Engine) -> list[StoredProposal]:
            return [_one(engine, node, guess).proposal for node, guess in named.items()]

        return await self._confirm(choose, changes, identity)

    async def confirm_all(self, identity: str) -> tuple[MappingChange | None, Sequence[Left]]:
        """All that is open and has no question; what has one, or means something else, is left."""
        open_ = [each for each in await self.proposals() if each.status.is_open]
        asked = [Left(each.proposal, reason) for each in open_ if (reason := _reason(each))]
        nodes = [each.proposal.node for each in open_ if not _reason(each)]

        def choose(engine: Engine) -> list[StoredProposal]:
            return [each for node in nodes if (each := proposal_at(engine, node)) is not None]

        if not nodes:
            return None, asked
        change, left = await self._confirm(choose, {}, identity)
        return change, [*asked, *left]

    async def migrate(
        self, identity: str, *, is_trial: bool
    ) -> tuple[Migration, MappingChange | None]:
        """Make mappings what their devices announce now, as one change; or only tell which."""
        found = await self._scheduler.look(self._migration)
        chosen = [each.proposal for each in found.outdated if not each.proposal.text("question")]
        if is_trial or not chosen:
            return found, None
        change, _ = await self._confirm(lambda _: chosen, {}, identity, Kind.MIGRATE)
        return found, change

    def inverted(self) -> list[str]:
        """The mappings in force, by IRI, that are known to say the contrary of what is."""
        return inverted(self._mappings.mappings)

    async def warn(self) -> None:
        """Say what has to be migrated; at every start."""
        found = await self._scheduler.look(self._migration)
        wrong = self.inverted()
        if found.outdated or wrong:
            extra = {
                "mappings": len(found.outdated),
                "inverted": wrong[:20],
                "named_by": [each.where for each in found.mentions][:20],
                "what_to_do": "sosa-gateway mapping migrate --dry-run",
            }
            log.warning("mappings_mean_something_else", extra=extra)

    def _migration(self, engine: Engine) -> Migration:
        mapped = stored_nodes(engine)
        return migration(engine, all_proposals(engine), mapped, self._mentions)

    async def _confirm(
        self,
        choose: Callable[[Engine], list[StoredProposal]],
        changes: Mapping[str, object],
        identity: str,
        kind: Kind = Kind.CONFIRM,
    ) -> tuple[MappingChange | None, Sequence[Left]]:
        left: list[Left] = []

        def decide(engine: Engine) -> tuple[Delta, MappingChange | None]:
            done = confirming(engine, choose(engine), changes, identity, kind)
            left[:] = done.left
            return done.delta, done.change

        return await self._change(decide), left

    async def reject(self, ids: Sequence[str]) -> None:
        """Have proposals never accepted, until somebody confirms them. Raises NotFoundError."""
        await self._decide(ids, frozenset(Status), Status.REJECTED)

    async def reopen(self, ids: Sequence[str]) -> None:
        """Take rejections back: these are proposed again, others stay. Raises NotFoundError."""
        await self._decide(ids, frozenset({Status.REJECTED}), Status.PROPOSED)

    async def _decide(self, ids: Sequence[str], of: frozenset[Status], status: Status) -> None:
        """Give a status to those of the named that have one `of` these."""
        named = await self._named(ids)

        def decide(engine: Engine) -> Delta:
            found = [_one(engine, node, guess) for node, guess in named.items()]
            return deciding(engine, [each.proposal for each in found if each.status in of], status)

        await self._scheduler.decide(decide)

    async def _named(self, ids: Sequence[str]) -> dict[NamedNode, StoredProposal | None]:
        """The nodes of proposals by their ids, a guess where it is one. Raises NotFoundError."""
        engine = self._scheduler.engine
        async with self._reading:
            nodes = await asyncio.to_thread(proposal_nodes, engine)
        guesses = {guess.node: guess for guess in self._guesses()}
        return {node: guesses.get(node) for node in find([*guesses, *nodes], ids)}

    async def apply(self, edits: Edits, identity: str) -> MappingChange | None:
        """Add, replace and remove mappings as one change; None where there is nothing to change.

        Raises InvalidMappingError, ConflictError, NotFoundError, BadRequestError.
        """

        def decide(engine: Engine) -> tuple[Delta, MappingChange | None]:
            said = InStore(engine)
            wanted = edits.wanted(said)
            require_good(said, wanted)
            return replacing(engine, wanted, Author.now(identity, Kind.APPLY))

        return await self._change(decide)

    async def declare(
        self, mappings: Sequence[Mapping[str, object]], quads: Sequence[Quad], identity: str
    ) -> None:
        """Add mappings and quads, as the store gives them back, as one change or none.

        Raises as `apply` does; ConflictError too where a mapping is there just as it is wanted.
        """

        def decide(engine: Engine) -> tuple[Delta, MappingChange | None]:
            said = InStore(engine)
            wanted = Edits(add=mappings).wanted(said)
            for node in wanted:
                if said.of(node):
                    raise ConflictError(f"there is a mapping {node.value} already", "use that one")
            require_good(said, wanted)
            delta, change = replacing(engine, wanted, Author.now(identity, Kind.APPLY))
            besides = engine.store.missing(quads)
            return quads_delta([*delta.added, *besides], delta.removed), change

        await self._change(decide)

    async def undo(self, number: str, identity: str, *, force: bool) -> MappingChange | None:
        """Take a change back; None where it is already. Raises NotFoundError, ConflictError."""
        return await self._change(lambda engine: undoing(engine, number, identity, force=force))

    async def changes(self) -> list[MappingChange]:
        """The history, the last change first."""
        return await self._scheduler.look(history)

    async def try_out(
        self, message: Message, mappings: Sequence[Mapping[str, object]] = ()
    ) -> tuple[Trial, tuple[Violation, ...] | None]:
        """What a message would be by the mappings of now, or by those given alone.

        Violations are None where nothing is installed that finds them. Raises
        InvalidMappingError for a mapping that does not compile.
        """
        registry = self._registry(mappings)
        async with self._trying:
            trial = await self._scheduler.look(
                lambda engine: try_message(
                    registry, message, self._writing(), store=engine.store, believe=self._believe
                )
            )
            return trial, await asyncio.to_thread(violations, trial.triples)

    def _registry(self, given: Sequence[Mapping[str, object]]) -> Registry:
        if not given:
            return Registry.compile(self._mappings.mappings)[0]
        mappings = []
        for place, members in enumerate(given):
            node, quads = mapping_node(
                {"id": f"urn:trial:{place}", **members}, f"mappings[{place}]"
            )
            refuse_unit(node, quads)
            try:
                mappings.append(mapping_of(node, quads))
            except MappingError as error:
                raise InvalidMappingError(str(error), "correct this member") from error
        registry, refused = Registry.compile(mappings)
        if refused:
            raise InvalidMappingError(str(refused[0]), "correct this member")
        return registry

    async def _change(self, decide: Decide) -> MappingChange | None:
        """Make the change that is decided on; returns its record."""
        records: list[MappingChange | None] = []

        def decision(engine: Engine) -> Delta:
            delta, record = decide(engine)
            records.append(record)
            return delta

        await self._scheduler.decide(decision)
        return records[-1]

    def _guesses(self) -> list[StoredProposal]:
        """What was guessed about unknown topics, as if it had been announced."""
        return guessed(self.unknown_topics())

    def _take_up(self, announcement: Announcement) -> ProposalUpdate | None:
        """Take an announcement up, in the thread of discovery."""
        for _ in range(_TRIES):
            updaters: list[ProposalUpdater] = []

            def decision(engine: Engine, updaters: list[ProposalUpdater] = updaters) -> Delta:
                updaters.append(ProposalUpdater(engine, self._acceptance))
                return updaters[-1].take(announcement)

            try:
                deciding = self._scheduler.decide(decision)
                asyncio.run_coroutine_threadsafe(deciding, self._loop).result()
                self._gone(updaters[-1].update.gone)
                return updaters[-1].update
            except (TooManyRequestsError, StorageError) as error:
                log.warning("proposals_wait", extra={"reason": str(error)})
                if self.discovery.pause(_PAUSE_S):
                    return None
            except GatewayError as error:
                log.error("proposals_not_stored", extra={"reason": str(error)})
                return None
        return None


def _reason(found: Found) -> str:
    """Why a proposal is not accepted with all others, empty where it is."""
    if found.status is Status.CHANGED:
        return "it means something else now: sosa-gateway mapping migrate --dry-run"
    return found.proposal.text("question")


def _found(engine: Engine, proposals: Sequence[StoredProposal]) -> list[Found]:
    """With what has become of each; in any thread."""
    mappings = queried_nodes(engine, MAPPINGS_GRAPH)
    return [Found(each, status_of(each, each.node in mappings)) for each in proposals]


def _one(engine: Engine, node: NamedNode, guess: StoredProposal | None) -> Found:
    """A proposal as it stands now, or else the guess; in the scheduler's thread."""
    proposal = proposal_at(engine, node) or guess
    if proposal is None:
        raise NotFoundError(f"there is no proposal {node.value} any more", "list them again")
    return Found(proposal, status_of(proposal, bool(said_of(engine, node))))
