"""`Backward`: the shallowest proof of a triple within one domain, found from its end.

Place: under gateway/reasoning/why.py. A triple is tried at depth 1, 2 … and its premises at one
less; what failed at a depth is not tried there again. So a proof rests on shallower ones alone, and
no triple stands above itself. Work is counted: what looks at too much is refused.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from pyoxigraph import NamedNode

from gateway.rdf.namespaces import RDF
from gateway.rdf.terms import Term
from gateway.reasoning.kinds import (
    NOTHING,
    THING,
    And,
    Chain,
    Disjoint,
    DomainOf,
    Expression,
    HasValue,
    Inverse,
    Or,
    RangeOf,
    Some,
    SubClass,
    SubProperty,
    Symmetric,
    Transitive,
)
from gateway.reasoning.proofs.conclusions import Conclusions, Head
from gateway.reasoning.proofs.proof import Fact, Premises, Proof, Step, View

TYPE = NamedNode(RDF + "type")

_DEEPEST = 100

_WITHOUT_PATHS = 3
"""Down to this depth a narrow search takes no path."""


class Backward:
    """Proofs within one view; each triple is proven once.

    A narrow search looks for a path of facts that need no transitivity and halves it, once nothing
    shallow is found. It looks at much less where a transitive property holds far; its proofs may be
    deeper than need be, and it takes them for as deep as the path's single steps.
    """

    def __init__(self, conclusions: Conclusions, view: View, *, is_narrow: bool = False) -> None:
        self._rules = conclusions
        self._view = view
        self._is_narrow = is_narrow
        self._proven: dict[Fact, tuple[int, Proof]] = {}
        self._failed: dict[Fact, int] = {}
        self._near: dict[tuple[Term, NamedNode], list[Term]] = {}

    def prove(self, fact: Fact) -> Proof | None:
        """The shallowest proof; None where there is none. Raises TooComplexError."""
        return self.within(fact, _DEEPEST)

    def within(self, fact: Fact, depth: int) -> Proof | None:
        """The shallowest proof of at most this depth, 0 for an asserted triple."""
        self._view.spend()
        known = self._proven.get(fact)
        if known is not None:
            return known[1] if known[0] <= depth else None
        tried = self._failed.get(fact)
        if tried is None:
            leaf = self._view.leaf(fact)
            if leaf is not None:
                self._proven[fact] = 0, leaf
                return leaf
            tried = 0 if self._view.has_derived(fact) else _DEEPEST
            self._failed[fact] = tried
        for level in range(tried + 1, depth + 1):
            found = self._step(fact, level - 1)
            if found is not None:
                self._proven[fact] = level, found
                return found
            self._failed[fact] = level
        return None

    def contradicted(self, individual: Term, axiom: Disjoint | None) -> tuple[int, Step] | None:
        """The shallowest step to a contradiction, and the depth of what it rests on.

        Without an axiom that two classes are disjoint, it is membership of owl:Nothing; where that
        is asserted, no axiom leads to it.
        """
        for depth in range(_DEEPEST):
            if axiom is not None:
                kinds = (axiom.first, axiom.second)
                both = self._all(
                    depth, *((individual, TYPE, each) for each in dict.fromkeys(kinds))
                )
                step: Step | None = None if both is None else (axiom, both)
            elif (leaf := self._view.leaf((individual, TYPE, NOTHING))) is not None:
                step = None, (leaf,)
            else:
                step = self._concluded(self._rules.of_class.get(NOTHING, ()), individual, depth)
            if step is not None:
                return depth, step
        return None

    def _concluded(self, heads: Iterable[Head], node: Term, depth: int) -> Step | None:
        """The first of these axioms that concludes of the node, with its premises."""
        for head in heads:
            for start, edges in self._along(node, head.path, depth):
                met = self._met(head.axiom, start, depth)
                if met is not None:
                    return head.axiom, (*met, *edges)
        return None

    def _step(self, fact: Fact, depth: int) -> Proof | None:
        """A proof whose premises have at most this depth."""
        subject, predicate, object_ = fact
        heads = self._rules.of_value.get((predicate, object_), ())
        if predicate == TYPE and isinstance(object_, NamedNode):
            heads = self._rules.of_class.get(object_, ())
        step = self._by_property(fact, depth) or self._concluded(heads, subject, depth)
        return None if step is None else self._view.conclude(fact, *step)

    def _by_property(self, fact: Fact, depth: int) -> Step | None:
        subject, predicate, object_ = fact
        for axiom in self._rules.of_property.get(predicate, ()):
            match axiom:
                case Chain(parts, _):
                    premises = self._chained(subject, parts, object_, depth)
                case Transitive():
                    premises = self._stepped(fact, axiom, depth)
                case SubProperty(sub, _):
                    premises = self._all(depth, (subject, sub, object_))
                case Inverse(first, second):
                    other = second if predicate == first else first
                    premises = self._all(depth, (object_, other, subject))
                case Symmetric():
                    premises = self._all(depth, (object_, predicate, subject))
            if premises is not None:
                return axiom, premises
        return None

    def _all(self, depth: int, *facts: Fact) -> Premises | None:
        found: list[Proof] = []
        for fact in facts:
            proof = self.within(fact, depth)
            if proof is None:
                return None
            found.append(proof)
        return tuple(found)

    def _chained(
        self, start: Term, parts: tuple[NamedNode, ...], end: Term, depth: int
    ) -> Premises | None:
        first, *rest = parts
        if not rest:
            return self._all(depth, (start, first, end))
        for middle in self._objects(start, first):
            edge = self._all(depth, (start, first, middle))
            others = edge and self._chained(middle, tuple(rest), end, depth)
            if edge and others:
                return (*edge, *others)
        return None

    def _stepped(self, fact: Fact, axiom: Transitive, depth: int) -> Premises | None:
        start, prop, end = fact
        if self._is_narrow:
            path = self._path(fact, depth) if depth >= _WITHOUT_PATHS else []
            return self._halves(path, axiom) if len(path) > 2 else None
        for middle in self._objects(start, prop):
            if end in self._objects(middle, prop):
                premises = self._all(depth, (start, prop, middle), (middle, prop, end))
                if premises is not None:
                    return premises
        return None

    def _path(self, fact: Fact, depth: int) -> list[Fact]:
        """The shortest way to a transitive fact over facts of at most this depth."""
        start, prop, end = fact
        back: dict[Term, Fact] = {}
        waiting = deque([start])
        while waiting and end not in back:
            node = waiting.popleft()
            for other in self._next(node, prop):
                step = (node, prop, other)
                if other not in back and self.within(step, depth) is not None:
                    back[other] = step
                    waiting.append(other)
        return list(_way_back(back, start, end))

    def _next(self, node: Term, prop: NamedNode) -> Iterator[Term]:
        """Where a property can lead without transitivity; not all of it need be entailed."""
        yield from self._view.objects(node, prop, of_asserted=True)
        for axiom in self._rules.of_property.get(prop, ()):
            match axiom:
                case SubProperty(sub, _):
                    yield from self._objects(node, sub)
                case Inverse(first, second):
                    yield from self._view.subjects(second if prop == first else first, node)
                case Symmetric():
                    yield from self._view.subjects(prop, node)
                case Chain():
                    yield from self._objects(node, prop)
        yield from self._rules.values.get(prop, ())

    def _halves(self, path: list[Fact], axiom: Transitive) -> Premises:
        """The proofs of both halves of a path."""
        middle = len(path) // 2
        return self._whole(path[:middle], axiom), self._whole(path[middle:], axiom)

    def _whole(self, path: list[Fact], axiom: Transitive) -> Proof:
        fact = (path[0][0], axiom.property, path[-1][2])
        known = self._proven.get(fact)
        if known is not None:
            return known[1]
        return self._view.conclude(fact, axiom, self._halves(path, axiom))

    def _along(
        self, node: Term, path: tuple[NamedNode, ...], depth: int
    ) -> Iterator[tuple[Term, Premises]]:
        """Each node from which the path leads to this one, with the proofs of the way."""
        if not path:
            yield node, ()
            return
        for before in self._view.subjects(path[-1], node):
            edge = self._all(depth, (before, path[-1], node))
            if edge is not None:
                for start, edges in self._along(before, path[:-1], depth):
                    yield start, (*edges, *edge)

    def _met(self, axiom: SubClass | DomainOf | RangeOf, node: Term, depth: int) -> Premises | None:
        match axiom:
            case SubClass(condition, _):
                return self._meets(node, condition, depth)
            case DomainOf(prop, _):
                facts = ((node, prop, other) for other in self._objects(node, prop))
            case RangeOf(prop, _):
                facts = ((other, prop, node) for other in self._view.subjects(prop, node))
        return self._first(depth, facts)

    def _first(self, depth: int, facts: Iterable[Fact]) -> Premises | None:
        return next(filter(None, (self._all(depth, fact) for fact in facts)), None)

    def _meets(self, node: Term, condition: Expression, depth: int) -> Premises | None:
        """The premises by which a node is in a class."""
        self._view.spend()
        match condition:
            case HasValue(prop, value):
                return self._all(depth, (node, prop, value))
            case Some(prop, filler):
                return self._filled(node, prop, filler, depth)
            case And(parts):
                found = [self._meets(node, part, depth) for part in parts]
                known = [each for each in found if each is not None]
                return tuple(chain.from_iterable(known)) if len(known) == len(found) else None
            case Or(parts):
                return next(filter(None, (self._meets(node, part, depth) for part in parts)), None)
            case _:
                return self._all(depth, (node, TYPE, condition))

    def _filled(
        self, node: Term, prop: NamedNode, filler: Expression, depth: int
    ) -> Premises | None:
        for other in self._objects(node, prop):
            inner = () if filler == THING else self._meets(other, filler, depth)
            edge = None if inner is None else self._all(depth, (node, prop, other))
            if edge is not None and inner is not None:
                return (*edge, *inner)
        return None

    def _objects(self, subject: Term, predicate: NamedNode) -> list[Term]:
        found = self._near.get((subject, predicate))
        if found is None:
            found = self._near[subject, predicate] = list(self._view.objects(subject, predicate))
        return found


def _way_back(back: Mapping[Term, Fact], start: Term, end: Term) -> list[Fact]:
    """The steps that led from start to end, in order; none where nothing did."""
    found: list[Fact] = []
    while end in back and (not found or end != start):
        found.append(back[end])
        end = found[-1][0]
    return found[::-1]
