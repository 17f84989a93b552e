"""`Closure`: all that follows by LUBM's ontology, fact by fact.

Place on the way of the data: below `naive`, the heuristics and the choice of resources; independent
of the gateway's reasoner, which it judges. It knows the eight kinds of rules that LUBM's ontology
has (named subclasses, subproperties, inverses, domains, ranges, intersections with someValuesFrom,
transitivity) and nothing else.
Source: OWL 2 RL, W3C Recommendation, section 4.3.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import BlankNode, Triple

from bench.sepbm.lubm import RDF_TYPE, Statement

_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_NIL = f"<{_RDF}nil>"


@dataclass(frozen=True, slots=True)
class _Definition:
    """A class that is the intersection of named ones and of ∃property.filler."""

    name: str
    parts: frozenset[str]
    restrictions: tuple[tuple[str, str], ...]


_Index = dict[str, dict[str, set[str]]]


class Rules:
    """The ontology as tables, by name of class or property."""

    def __init__(self, axioms: Iterable[Triple]) -> None:
        about: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        named: list[tuple[str, str, str]] = []
        for axiom in axioms:
            s, p, o = str(axiom.subject), axiom.predicate.value, str(axiom.object)
            about[s][p].append(o)
            if not isinstance(axiom.subject, BlankNode) and not isinstance(axiom.object, BlankNode):
                named.append((s, p, o))
        self.definitions = list(_definitions(about))
        supers = [(s, o) for s, p, o in named if p == f"{_RDFS}subClassOf"]
        supers += [(each.name, part) for each in self.definitions for part in each.parts]
        self.classes = _reached(supers)
        self.transitive = {
            s for s, p, o in named if (f"<{p}>", o) == (RDF_TYPE, f"<{_OWL}TransitiveProperty>")
        }
        self.properties = _properties(named)
        self.subjects = self._ends(named, "domain")
        self.objects = self._ends(named, "range")
        self._index()

    def _ends(self, named: list[tuple[str, str, str]], end: str) -> dict[str, set[str]]:
        """The classes of a property's subjects or objects, those of what it implies included."""
        own: dict[tuple[str, str], set[str]] = defaultdict(set)
        for s, p, o in named:
            if p in (f"{_RDFS}domain", f"{_RDFS}range"):
                own[s, p.removeprefix(_RDFS)] |= {o, *self.classes.get(o, ())}
        other = {"domain": "range", "range": "domain"}[end]
        names = {s for s, _ in own} | set(self.properties)
        return {
            name: own[name, end].union(
                *(own[head, other if swap else end] for head, swap in self.properties.get(name, ()))
            )
            for name in names
        }

    def _index(self) -> None:
        self.of_part: dict[str, list[_Definition]] = defaultdict(list)
        self.of_filler: dict[str, list[tuple[_Definition, str]]] = defaultdict(list)
        self.of_property: dict[str, list[_Definition]] = defaultdict(list)
        for each in self.definitions:
            for part in each.parts:
                self.of_part[part].append(each)
            for name, filler in each.restrictions:
                self.of_filler[filler].append((each, name))
                self.of_property[name].append(each)
        self.joined = self.transitive | set(self.of_property)


class Closure:
    """The facts that follow from those that were added and not removed, these included."""

    def __init__(self, rules: Rules, statements: Iterable[Statement] = ()) -> None:
        self._rules = rules
        self.facts: set[Statement] = set()
        self._asserted: set[Statement] = set()
        self._out: _Index = defaultdict(lambda: defaultdict(set))
        self._in: _Index = defaultdict(lambda: defaultdict(set))
        self._about: dict[str, set[Statement]] | None = None
        self.add(statements)

    def add(self, statements: Iterable[Statement]) -> list[Statement]:
        """The facts that are new, these statements included."""
        pending = list(statements)
        self._asserted.update(pending)
        return self._close(pending)

    def remove(self, statements: Iterable[Statement]) -> list[Statement]:
        """The facts that follow no more.

        All that might depend on the statements goes; then everything that is said of the same
        resources is looked at again. The first call indexes all facts.
        """
        removed = self._asserted.intersection(statements)
        self._asserted -= removed
        gone = self._dependent(removed)
        about = self._mentions()
        for fact in gone:
            self._forget(fact)
        nodes = {node for fact in gone for node in _nodes(fact)}
        near = {fact for node in nodes for fact in about.get(node, ())}
        self._close([found for fact in near for found in self._consequences(fact)])
        return [fact for fact in gone if fact not in self.facts]

    def _close(self, pending: list[Statement]) -> list[Statement]:
        facts, new = self.facts, list[Statement]()
        while pending:
            fact = pending.pop()
            if fact in facts:
                continue
            facts.add(fact)
            new.append(fact)
            _, name, _ = fact
            if name in self._rules.joined:
                self._out[name][fact[0]].add(fact[2])
                self._in[name][fact[2]].add(fact[0])
            if self._about is not None:
                for node in _nodes(fact):
                    self._about[node].add(fact)
            pending += self._consequences(fact)
        return new

    def _dependent(self, removed: set[Statement]) -> set[Statement]:
        found, pending = set[Statement](), list(removed)
        while pending:
            fact = pending.pop()
            if fact not in found and fact not in self._asserted and fact in self.facts:
                found.add(fact)
                pending += self._consequences(fact)
        return found

    def _forget(self, fact: Statement) -> None:
        subject, name, value = fact
        self.facts.discard(fact)
        if name in self._rules.joined:
            self._out[name][subject].discard(value)
            self._in[name][value].discard(subject)
        for node in _nodes(fact):
            self._mentions()[node].discard(fact)

    def _mentions(self) -> dict[str, set[Statement]]:
        """The facts by the resources that they are about."""
        if self._about is None:
            self._about = defaultdict(set)
            for fact in self.facts:
                for node in _nodes(fact):
                    self._about[node].add(fact)
        return self._about

    def _consequences(self, fact: Statement) -> list[Statement]:
        """What one rule concludes of a fact and others."""
        return self._types(fact) if fact[1] == RDF_TYPE else self._follows(fact)

    def _types(self, fact: Statement) -> list[Statement]:
        subject, _, name = fact
        rules = self._rules
        found = [(subject, RDF_TYPE, above) for above in rules.classes.get(name, ())]
        found += (
            (subject, RDF_TYPE, each.name)
            for each in rules.of_part.get(name, ())
            if self._is(subject, each)
        )
        for each, restricted in rules.of_filler.get(name, ()):
            found += (
                (member, RDF_TYPE, each.name)
                for member in self._in[restricted].get(subject, ())
                if self._is(member, each)
            )
        return found

    def _follows(self, fact: Statement) -> list[Statement]:
        subject, name, value = fact
        rules = self._rules
        found = [(subject, RDF_TYPE, kind) for kind in rules.subjects.get(name, ())]
        if not value.startswith('"'):
            found += ((value, RDF_TYPE, kind) for kind in rules.objects.get(name, ()))
            for head, swap in rules.properties.get(name, ()):
                found.append((value, head, subject) if swap else (subject, head, value))
        found += (
            (subject, RDF_TYPE, each.name)
            for each in rules.of_property.get(name, ())
            if self._is(subject, each)
        )
        if name in rules.transitive:
            found += ((subject, name, beyond) for beyond in self._out[name].get(value, ()))
            found += ((before, name, value) for before in self._in[name].get(subject, ()))
        return found

    def _is(self, subject: str, definition: _Definition) -> bool:
        facts = self.facts
        return all((subject, RDF_TYPE, part) in facts for part in definition.parts) and all(
            any((value, RDF_TYPE, filler) in facts for value in self._out[name].get(subject, ()))
            for name, filler in definition.restrictions
        )


def _nodes(fact: Statement) -> tuple[str, ...]:
    """The resources that a fact is about."""
    subject, name, value = fact
    return (subject,) if name == RDF_TYPE or value.startswith('"') else (subject, value)


def _definitions(about: dict[str, dict[str, list[str]]]) -> Iterator[_Definition]:
    for name in list(about):
        for head in about[name].get(f"{_OWL}intersectionOf", ()):
            parts, restrictions = set[str](), list[tuple[str, str]]()
            for member in _members(about, head):
                if fillers := about[member].get(f"{_OWL}someValuesFrom"):
                    restrictions.append((about[member][f"{_OWL}onProperty"][0], fillers[0]))
                else:
                    parts.add(member)
            yield _Definition(name, frozenset(parts), tuple(restrictions))


def _members(about: dict[str, dict[str, list[str]]], node: str) -> Iterator[str]:
    """The members of a list."""
    while node != _NIL:
        yield about[node][f"{_RDF}first"][0]
        node = about[node][f"{_RDF}rest"][0]


def _properties(named: list[tuple[str, str, str]]) -> dict[str, tuple[tuple[str, bool], ...]]:
    """All properties that one implies, and whether with subject and object swapped."""
    steps: dict[str, set[tuple[str, bool]]] = defaultdict(set)
    for s, p, o in named:
        if p == f"{_RDFS}subPropertyOf":
            steps[s].add((o, False))
        elif p == f"{_OWL}inverseOf":
            steps[s].add((o, True))
            steps[o].add((s, True))
    found = {}
    for start in list(steps):
        seen, pending = {(start, False)}, [(start, False)]
        while pending:
            name, swapped = pending.pop()
            for head, swap in steps.get(name, ()):
                if (reached := (head, swapped ^ swap)) not in seen:
                    seen.add(reached)
                    pending.append(reached)
        found[start] = tuple(sorted(seen - {(start, False)}))
    return found


def _reached(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """What each name leads to, in any number of steps."""
    steps: dict[str, set[str]] = defaultdict(set)
    for low, high in pairs:
        steps[low].add(high)
    found = {}
    for start in list(steps):
        seen, pending = set[str](), [start]
        while pending:
            for high in steps.get(pending.pop(), ()):
                if high not in seen:
                    seen.add(high)
                    pending.append(high)
        found[start] = frozenset(seen - {start})
    return found
