"""`EntailedView`: the engine's other view, of what is asserted and what follows from it.

    asserted Delta -> reasoner -> (store commits) -> entailed Delta -> its own LUTTs, units, workers

Place: beside the processing of the asserted view; the engine asks it where reasoning is on. Who
subscribes with `infer` is served here where a rule can conclude something that the query looks at,
else by the SPU of the asserted view, since both views are alike for it. Where changed axioms alter
that, the subscription moves.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pyoxigraph import Quad

from gateway.engine.compile import lutt_of
from gateway.engine.explain import Explanation
from gateway.engine.lutt import LuttEntry
from gateway.engine.notification import Notification
from gateway.engine.processing import Processing
from gateway.engine.request import QueryRequest
from gateway.engine.spu import Change, Spu, Subject
from gateway.engine.subscriptions import Subscriptions
from gateway.engine.views.audience import Audience
from gateway.engine.views.processings import Processings
from gateway.errors import GatewayError, SuspendedError
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import SolutionBag, consolidate, difference
from gateway.rdf.terms import GraphName
from gateway.reasoning.axioms import Axioms
from gateway.reasoning.domains import Domain
from gateway.reasoning.entailed import Entailed
from gateway.reasoning.heads import feeding
from gateway.reasoning.incremental.parting import Parted
from gateway.reasoning.postponed import Postponed
from gateway.reasoning.reasoning import Reasoning
from gateway.reasoning.why import Proof, proof
from gateway.store.quad_store import QuadStore
from gateway.store.update import BoundUpdate

_NOT_STARTED = "it has not begun"


@dataclass(frozen=True, slots=True)
class _Follower:
    """Who subscribed with `infer`: to what, and the patterns of all that can change the answer."""

    subject: Subject
    lutt: tuple[LuttEntry, ...]


class EntailedView:
    """What follows, and who is told of it. For the engine's thread, which holds `writing`.

    Where `is_unsettled`, `settled` is to be asked once the UPDATE is done, without `writing`.
    """

    def __init__(
        self,
        store: QuadStore,
        reasoning: Reasoning,
        asserted: Processing,
        subscriptions: Subscriptions,
        processings: Processings,
    ) -> None:
        """Raises OntologyError where it starts at once and the axioms cannot be read."""
        made = reasoning.make(store, reasoning.domains, bound=reasoning.derived)
        self.reasoner = Postponed(made, store.writing)
        self.reasoning = reasoning
        self.domains = reasoning.domains
        self._store = store
        self.entailed = Entailed(store, self.reasoner, reasoning.domains)
        self.is_started = False
        self._asserted = asserted
        self._subscriptions = subscriptions
        self._delivery = processings.delivery
        self._performance = processings.performance
        self.processing, self.workers = processings.open(self.entailed, is_entailed=True)
        self._followers: dict[str, _Follower] = {}
        self._arriving: dict[str, SolutionBag] = {}
        self._suspended: Mapping[Domain, str] = self.reasoner.lately.suspended
        self._audience = Audience()
        self._axioms: Axioms | None = None
        self._are_axioms_new = False
        self.is_unsettled = False
        if reasoning.at_once:
            self.start()

    def start(self) -> None:
        """Read the axioms in the store and derive all that follows. Raises OntologyError."""
        self.reasoner.start()
        self._axioms = self.reasoner.axioms
        self._audience.learn(self._axioms)
        self._suspended = self.reasoner.suspended
        self.is_started = True

    # who is told of which view --------------------------------------------------------------

    def home(self, subject: Subject) -> Subject:
        """Which SPU serves a subject: its own, or that of the asserted view, if that is the same.

        Raises SuspendedError, and what parsing the query raises.
        """
        if not subject.infer:
            return subject
        lutt = lutt_of(subject)
        self.require(entry.graph for entry in lutt)
        self.reasoner.catch_up()  # tables may lack what is relevant to this one first
        self._tell_late()
        return subject if self._is_reached(lutt) else replace(subject, infer=False)

    def require(self, graphs: Iterable[GraphName | None] = (None,)) -> None:
        """Raise SuspendedError where it is not known what follows in the graphs; None is all."""
        if not self.is_started:
            raise SuspendedError(_NOT_STARTED)
        self.entailed.require(graphs)

    def require_writable(self, updates: Iterable[BoundUpdate]) -> None:
        """Raise ForbiddenError where one names a graph of conclusions, be it to no effect."""
        for plan, bindings in updates if self.is_started else ():
            if plan.named:
                self.domains.require_writable(plan.written(bindings))

    def known(self) -> Entailed:
        """The view to be looked at. Raises SuspendedError before the start."""
        self.require(())
        return self.entailed

    def of(self, spu: Spu) -> Processing:
        """What processes an SPU."""
        return self.processing if spu.subject.infer else self._asserted

    def follow(self, spuid: str, subject: Subject) -> None:
        """Keep a subscription where its subject has its home."""
        if subject.infer:
            follower = self._followers[spuid] = _Follower(subject, lutt_of(subject))
            self._audience.join(follower.lutt)

    def forget(self, spuid: str) -> None:
        """The reverse of `follow`."""
        follower = self._followers.pop(spuid, None)
        if follower is not None:
            self._audience.leave(follower.lutt)
        self._arriving.pop(spuid, None)

    def _is_reached(self, lutt: Iterable[LuttEntry]) -> bool:
        return any(map(self.reasoner.concludes, lutt))

    # an UPDATE ------------------------------------------------------------------------------

    def is_silent(self, delta: Delta, bound: Sequence[BoundUpdate]) -> bool:
        """Whether it is certain that nothing follows from a reading, so that nothing changes here.

        `bound` are all the updates that make it.
        """
        return not (
            delta.graphs_created or delta.graphs_dropped or self.entailed.mirror.is_filled
        ) and (self.reasoner.is_silent(bound) and self.is_started)

    def change(
        self,
        delta: Delta,
        apply: Callable[[Delta], None],
        bound: Sequence[BoundUpdate] | None = None,
        *,
        is_reading: bool,
    ) -> Delta:
        """Derive, then have the store commit by `apply`; the entailed Delta.

        A reading that is made by such updates alone is derived from later, but for what is relevant
        to those who have subscribed with `infer`; the Delta is then of that.

        Raises DerivedLimitError, OntologyError or ForbiddenError, and what the store raises: then
        nothing has changed.
        """
        if not self.is_started:
            apply(delta)
            return Delta()
        parted = self._parted(delta, bound) if is_reading and bound is not None else None
        if parted is None:
            return self._derived(delta, None, partial(apply, delta), is_reading=is_reading)
        if parted.now.is_empty:
            apply(delta)
            entailed = parted.heard
        else:
            commit = partial(apply, delta)
            entailed = self._derived(parted.heard, parted.now, commit, is_reading=True)
        if parted.later.added or parted.later.removed or parted.bundles is not None:
            self.reasoner.postpone(parted.later, parted.bundles)
            self._note_suspended()
        return entailed

    def _derived(
        self, whole: Delta, among: Delta | None, commit: Callable[[], None], *, is_reading: bool
    ) -> Delta:
        """Derive from a change, or from what is `among` it, and commit; the entailed Delta."""
        if self._performance is not None:
            self._performance.evaluated()
        entailed = self.reasoner.step(whole, is_reading=is_reading, among=among)
        if self._performance is not None:
            self._performance.reasoned()
        try:
            are_new = self.reasoner.axioms is not self._axioms
            arriving = self._told_before() if are_new else {}
            commit()
        except BaseException:
            self.reasoner.undo(whole if among is None else among)
            self._axioms = self.reasoner.axioms
            raise
        if are_new:
            self._axioms = self.reasoner.axioms
            self._are_axioms_new = self.is_unsettled = True
            self._audience.learn(self._axioms)
        self._take(entailed, arriving)
        return entailed

    def _parted(self, delta: Delta, bound: Sequence[BoundUpdate]) -> Parted | None:
        """What of a reading may wait to be derived from; None: nothing."""
        if self.workers is not None or self.entailed.mirror.is_filled:
            return None
        relevance = self._audience.relevance
        if relevance.is_all:
            return None
        self.reasoner.listen(relevance)
        return self.reasoner.parted(delta, [plan.kinds for plan, _ in bound], relevance)

    def catch_up(self) -> None:
        """Derive from readings that wait."""
        self.reasoner.catch_up()
        self._note_suspended()

    def resume(self) -> Delta:
        """Try suspended domains again; the entailed Delta."""
        self.require(())
        entailed = self.reasoner.resume()
        self._are_axioms_new = self.is_unsettled = True
        self._take(entailed, self._told_before(), is_resumed=True)
        return entailed

    def _told_before(self) -> dict[str, SolutionBag]:
        """What those know of the asserted view whom this one serves from now on."""
        told: dict[Spu, SolutionBag] = {}
        found: dict[str, SolutionBag] = {}
        for spuid, follower in self._followers.items():
            spu = self._subscriptions.of(spuid).spu
            if not spu.subject.infer and self._is_reached(follower.lutt):
                if spu not in told:
                    told[spu] = Counter(self._asserted.initial(spu).added)
                found[spuid] = told[spu]
        return found

    def _take(
        self, entailed: Delta, arriving: dict[str, SolutionBag], *, is_resumed: bool = False
    ) -> None:
        self.entailed.take(entailed, is_resumed=is_resumed)
        for spuid in arriving:
            self._leave(spuid)
        self._arriving = arriving
        self._note_suspended()

    def _note_suspended(self) -> None:
        """End the subscriptions to what is not known any more."""
        suspended = self.reasoner.lately.suspended
        if suspended is not self._suspended:
            self._suspended = suspended
            self.is_unsettled = True
            self._end_suspended()

    def _end_suspended(self) -> None:
        for spuid, follower in list(self._followers.items()):
            try:
                self.entailed.require(entry.graph for entry in follower.lutt)
            except SuspendedError as error:
                self._end(spuid, error)

    def _end(self, spuid: str, error: GatewayError) -> None:
        subject = self._followers[spuid].subject
        self.forget(spuid)
        self._leave(spuid)
        self._delivery.ended(spuid, subject.text, error)

    def _leave(self, spuid: str) -> None:
        last = self._delivery.leave(spuid)
        if last is not None:
            self.of(last).remove(last)

    def changes(self, delta: Delta, time: int) -> list[Change]:
        """The answers that an entailed Delta changed; those of workers come later."""
        if self.workers is not None:
            self.workers.post(delta, time)
        if self.reasoner.late:
            self._tell_late()
        if self.processing.is_idle:
            return []
        return self.processing.process(self.processing.match(delta))

    def _tell_late(self) -> None:
        """Have tables take up what was derived late: it is in no answer, but may come to be."""
        late = self.reasoner.late
        while late:
            self.processing.fill(late.popleft())

    def explained(self, explanation: Explanation, query: QueryRequest) -> Explanation:
        """The same, with its view, and what can feed the patterns that it looks at."""
        if not query.infer:
            return explanation
        axioms, domains = self.reasoner.axioms, self.domains
        fed_by = {entry: feeding(entry, axioms, domains) for entry in explanation.lutt}
        return replace(explanation, view="entailed", fed_by=fed_by)

    def why(self, quad: Quad, sees: Callable[[GraphName], bool]) -> Proof:
        """Why a quad is in this view; see Engine."""
        self.require((quad.graph_name,))
        parts = (self.reasoner.axioms, self.domains, self._store, self.entailed)
        return proof(canonical_quad(quad), *parts, sees=sees)

    # who moves, once an UPDATE is done ------------------------------------------------------

    def settled(self, told: Iterable[Notification], time: int) -> tuple[Notification, ...]:
        """Move whom changed axioms make move; the notifications of the UPDATE with theirs.

        Who is told of its change already is told of both together; events are apart.
        """
        events = tuple(each for each in told if each.events is not None)
        found = {each.spuid: each for each in told if each.events is None}
        for late in self._settled(time):
            early = found.pop(late.spuid, None)
            if early is None:
                found[late.spuid] = late
                continue
            subscription = self._subscriptions.of(late.spuid)
            subscription.sequence -= 1
            added = (*early.results.added, *late.results.added)
            removed = (*early.results.removed, *late.results.removed)
            results = consolidate(early.results.variables, added, removed)
            if results.is_empty:
                subscription.sequence -= 1
            else:
                found[late.spuid] = early._replace(results=results)
        return (*found.values(), *events)

    def _settled(self, time: int) -> Iterator[Notification]:
        self.is_unsettled = False
        arriving, self._arriving = self._arriving, {}
        for spuid, before in arriving.items():
            yield from self._moved(spuid, self._followers[spuid].subject, before, time)
        if self._are_axioms_new:
            self._are_axioms_new = False
            if self.workers is not None:
                self.workers.drain()
            for spuid, follower in list(self._followers.items()):
                spu = self._subscriptions.of(spuid).spu
                if spu.subject.infer and not self._is_reached(follower.lutt):
                    before = Counter(self.processing.initial(spu).added)
                    self._leave(spuid)
                    subject = replace(follower.subject, infer=False)
                    yield from self._moved(spuid, subject, before, time)

    def _moved(
        self, spuid: str, subject: Subject, before: SolutionBag, time: int
    ) -> Iterator[Notification]:
        """The subscription in the SPU of a subject; its notification, if it has to be told."""
        processing = self.processing if subject.infer else self._asserted
        try:
            spu = self._subscriptions.spu(subject)
            if spu is None:
                spu, whole = processing.add(subject)
            else:
                whole = processing.initial(spu)
        except GatewayError as error:
            self._end(spuid, error)
            return
        subscription = self._delivery.join(spuid, spu)
        results = difference(spu.variables, before, Counter(whole.added))
        if not results.is_empty:
            subscription.sequence += 1
            known = (subscription.spuid, subscription.sequence, subscription.alias)
            yield Notification(*known, time, results, spu.form)
