"""The rules over one domain's triples, by a fixpoint that compiles nothing: the oracle's half.

Place: under `NaiveReasoner`. The axiom triples are read as they stand each time a rule looks at
them: lists are walked, restrictions taken apart, and a blank class is a class like any other, whose
members are only not put out. Source: OWL 2 Web Ontology Language Profiles, section 4.3, tables 5
to 8, without equality, cardinality, datatypes and axiomatic triples.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from functools import cache
from operator import attrgetter

from pyoxigraph import BlankNode, NamedNode, Quad, Triple

from gateway.rdf.namespaces import OWL, RDF, RDFS
from gateway.rdf.terms import Term

Node = NamedNode | BlankNode
Fact = tuple[Node, NamedNode, Term]
Contradiction = tuple[Node, NamedNode, NamedNode]
"""An individual and two classes that it cannot be in both."""

TYPE, FIRST, REST, NIL = (NamedNode(RDF + name) for name in ("type", "first", "rest", "nil"))
SUB_CLASS, SUB_PROPERTY, DOMAIN, RANGE = (
    NamedNode(RDFS + name) for name in ("subClassOf", "subPropertyOf", "domain", "range")
)
SAME_CLASS, SAME_PROPERTY, INVERSE, CHAIN, DISJOINT = (
    NamedNode(OWL + name)
    for name in (
        "equivalentClass",
        "equivalentProperty",
        "inverseOf",
        "propertyChainAxiom",
        "disjointWith",
    )
)
ON_PROPERTY, SOME, VALUE, ONLY, AND, OR = (
    NamedNode(OWL + name)
    for name in (
        "onProperty",
        "someValuesFrom",
        "hasValue",
        "allValuesFrom",
        "intersectionOf",
        "unionOf",
    )
)
SYMMETRIC, TRANSITIVE = NamedNode(OWL + "SymmetricProperty"), NamedNode(OWL + "TransitiveProperty")
NOTHING = NamedNode(OWL + "Nothing")
THING = NamedNode(OWL + "Thing")


class Schema:
    """The triples of the ontology graph, looked up from both ends."""

    def __init__(self, quads: Iterable[Quad]) -> None:
        self._objects: dict[tuple[Term, Term], list[Term]] = defaultdict(list)
        self._subjects: dict[tuple[Term, Term], list[Term]] = defaultdict(list)
        self.facts: set[Fact] = set()
        for quad in quads:
            if not isinstance(quad.subject, Triple):
                self.facts.add((quad.subject, quad.predicate, quad.object))
            self._objects[quad.subject, quad.predicate].append(quad.object)
            self._subjects[quad.predicate, quad.object].append(quad.subject)
        self.subjects = cache(self._find_subjects)

    def objects(self, subject: Term, predicate: Term) -> list[Term]:
        """What stands behind subject and predicate."""
        return self._objects.get((subject, predicate), [])

    def _find_subjects(self, predicate: Term, object_: Term) -> list[Term]:
        return self._subjects.get((predicate, object_), [])

    def members(self, head: Term) -> list[Term]:
        """The members of a list, in order; what is broken ends it."""
        found: list[Term] = []
        seen: set[Term] = set()
        while head != NIL and head not in seen:
            seen.add(head)
            found += self.objects(head, FIRST)[:1]
            head = next(iter(self.objects(head, REST)), NIL)
        return found

    def holders(self, member: Term, predicate: Term) -> Iterator[tuple[Term, list[Term]]]:
        """Each node that has by `predicate` a list with the member, and that list."""
        for cell in self.subjects(FIRST, member):
            seen: set[Term] = set()
            waiting = [cell]
            while waiting:
                head = waiting.pop()
                if head in seen:
                    continue
                seen.add(head)
                waiting += self.subjects(REST, head)
                for holder in self.subjects(predicate, head):
                    yield holder, self.members(head)

    def is_everything(self, node: Term) -> bool:
        """Whether the class has all for members, literals too, by its description."""
        if isinstance(node, NamedNode):
            return node == THING
        parts = [self.members(head) for head in self.objects(node, AND)]
        unions = [self.members(head) for head in self.objects(node, OR)]
        return any(all(map(self.is_everything, each)) for each in parts) or any(
            any(map(self.is_everything, each)) for each in unions
        )

    def both(self, node: Term, up: Term, same: Term) -> Iterator[Term]:
        """Each node directly above this one, by a hierarchy or as its equivalent."""
        yield from self.objects(node, up)
        yield from self.objects(node, same)
        yield from self.subjects(same, node)


class Closure:
    """All that follows from the facts that were added, under one schema; only grows."""

    def __init__(self, schema: Schema, most: int | None = None) -> None:
        """Where `most` facts are passed, nothing more is derived."""
        self._schema = schema
        self._most = most
        self.is_too_much = False
        self.facts: set[Fact] = set()
        self._members: dict[Term, set[Node]] = defaultdict(set)
        self._objects: dict[tuple[Term, Term], set[Term]] = defaultdict(set)
        self._subjects: dict[tuple[Term, Term], set[Node]] = defaultdict(set)
        self._new: deque[Fact] = deque()
        self._new_members: deque[tuple[Node, Term]] = deque()

    def add(self, facts: Iterable[Fact]) -> None:
        """Take up asserted facts, and all that follows."""
        for fact in facts:
            self._emit(*fact)
        while (self._new or self._new_members) and not self.is_too_much:
            if self._most is not None and len(self.facts) > self._most:
                self.is_too_much = True
            elif self._new:
                self._from_fact(*self._new.popleft())
            else:
                self._from_member(*self._new_members.popleft())

    def contradictions(self) -> Iterator[Contradiction]:
        """Each individual with the classes that are disjoint, or with owl:Nothing twice."""
        for individual in self._members[NOTHING]:
            yield individual, NOTHING, NOTHING
        for one, predicate, other in self._schema.facts:
            if (
                predicate == DISJOINT
                and isinstance(one, NamedNode)
                and isinstance(other, NamedNode)
            ):
                first, second = sorted((one, other), key=attrgetter("value"))
                for individual in self._members[one] & self._members[other]:
                    yield individual, first, second

    def _emit(self, subject: Term, predicate: Term, object_: Term) -> None:
        if not isinstance(subject, NamedNode | BlankNode) or not isinstance(predicate, NamedNode):
            return
        fact = subject, predicate, object_
        if fact not in self.facts:
            self.facts.add(fact)
            self._objects[subject, predicate].add(object_)
            self._subjects[predicate, object_].add(subject)
            self._new.append(fact)

    def _classify(self, individual: Term, node: Term) -> None:
        if not isinstance(individual, NamedNode | BlankNode) or node == THING:
            return
        members = self._members[node]
        if individual not in members:
            members.add(individual)
            self._new_members.append((individual, node))

    def _from_fact(self, subject: Node, predicate: NamedNode, object_: Term) -> None:
        schema = self._schema
        if predicate == TYPE:
            if isinstance(object_, NamedNode):
                self._classify(subject, object_)
            return
        for above in schema.both(predicate, SUB_PROPERTY, SAME_PROPERTY):
            self._emit(subject, above, object_)
        for inverse in (*schema.objects(predicate, INVERSE), *schema.subjects(INVERSE, predicate)):
            self._emit(object_, inverse, subject)
        if SYMMETRIC in schema.objects(predicate, TYPE):
            self._emit(object_, predicate, subject)
        for node in schema.objects(predicate, DOMAIN):
            self._classify(subject, node)
        for node in schema.objects(predicate, RANGE):
            self._classify(object_, node)
        for node in schema.subjects(ON_PROPERTY, predicate):
            self._restrict(node, subject, object_)
        self._chain(subject, predicate, object_)

    def _chain(self, subject: Node, predicate: NamedNode, object_: Term) -> None:
        schema = self._schema
        chains = list(schema.holders(predicate, CHAIN))
        if TRANSITIVE in schema.objects(predicate, TYPE):
            chains.append((predicate, [predicate, predicate]))
        for above, links in chains:
            for place, link in enumerate(links):
                if link == predicate:
                    self._join(links, above, subject, object_, place)

    def _join(self, links: list[Term], above: Term, start: Term, end: Term, place: int) -> None:
        """Every chain that has a new fact at this place."""
        starts, ends = {start}, {end}
        for link in reversed(links[:place]):
            starts = {one for node in starts for one in self._subjects.get((link, node), ())}
        for link in links[place + 1 :]:
            ends = {one for node in ends for one in self._objects.get((node, link), ())}
        for one in starts:
            for other in ends:
                self._emit(one, above, other)

    def _restrict(self, node: Term, subject: Term, object_: Term) -> None:
        schema = self._schema
        for filler in schema.objects(node, SOME):
            if self._is_in(object_, filler):
                self._classify(subject, node)
        if object_ in schema.objects(node, VALUE):
            self._classify(subject, node)
        if subject in self._members[node]:
            for filler in schema.objects(node, ONLY):
                self._classify(object_, filler)

    def _from_member(self, individual: Node, node: Term) -> None:
        schema = self._schema
        if isinstance(node, NamedNode) and node != NOTHING:
            self._emit(individual, TYPE, node)
        for above in schema.both(node, SUB_CLASS, SAME_CLASS):
            self._classify(individual, above)
        for head in schema.objects(node, AND):
            for part in schema.members(head):
                self._classify(individual, part)
        for whole, parts in schema.holders(node, AND):
            if all(self._is_in(individual, part) for part in parts):
                self._classify(individual, whole)
        for whole, _ in schema.holders(node, OR):
            self._classify(individual, whole)
        self._fill(individual, node)
        for link in schema.objects(node, ON_PROPERTY):
            self._oblige(individual, node, link)

    def _is_in(self, node: Term, group: Term) -> bool:
        return self._schema.is_everything(group) or node in self._members[group]

    def _fill(self, individual: Node, filler: Term) -> None:
        """Who has a property to the new member of a filler."""
        for restriction in self._schema.subjects(SOME, filler):
            for link in self._schema.objects(restriction, ON_PROPERTY):
                for subject in tuple(self._subjects.get((link, individual), ())):
                    self._classify(subject, restriction)

    def _oblige(self, individual: Node, node: Term, link: Term) -> None:
        """What the new member of a restriction has, and what it leads to."""
        for value in self._schema.objects(node, VALUE):
            self._emit(individual, link, value)
        for filler in self._schema.objects(node, ONLY):
            for object_ in tuple(self._objects.get((individual, link), ())):
                self._classify(object_, filler)
