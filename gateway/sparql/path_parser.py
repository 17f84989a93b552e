"""Property paths: from the verb of a triple pattern to the nodes of `paths`.

Place: layer of the parser above terms. Source: SPARQL 1.1 Query Language, section 9 and grammar
rules [88] to [96].
"""

from collections.abc import Callable

from pyoxigraph import NamedNode, Variable

from gateway.rdf.namespaces import RDF
from gateway.sparql.paths import (
    Alternative,
    Inverse,
    Link,
    NegatedPropertySet,
    OneOrMore,
    Path,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)
from gateway.sparql.term_parser import TermParser

RDF_TYPE = NamedNode(RDF + "type")

_MODIFIERS: dict[str, Callable[[Path], Path]] = {"*": ZeroOrMore, "+": OneOrMore, "?": ZeroOrOne}
_CONTINUES = frozenset({"/", "|", *_MODIFIERS})

VERB_STARTS = frozenset({"var", "iriref", "pname", "A"})
PATH_STARTS = VERB_STARTS | {"^", "!", "("}


class PathParser(TermParser):
    """Reads verbs: with paths in a WHERE, without in a template."""

    _walked = 0

    def simple_verb(self) -> Variable | NamedNode:
        """A variable, an IRI or `a`."""
        return self.variable() if self.key == "var" else self._constant_edge()

    def path_verb(self) -> Variable | NamedNode | Path:
        """A variable or a path; a path of one plain edge is its IRI."""
        if self.key == "var":
            return self.variable()
        if self.key in VERB_STARTS and self.next_key() not in _CONTINUES:
            return self._constant_edge()
        self._walked = 0
        path = self._alternative()
        return path.iri if isinstance(path, Link) else path

    def _constant_edge(self) -> NamedNode | Variable:
        return self.constant_iri() if self.key in {"iriref", "pname"} else self._edge()

    def _edge(self) -> NamedNode:
        if self.key == "A" and self.token.text == "a":
            self.advance()
            return RDF_TYPE
        if self.key not in {"iriref", "pname"}:
            self.fail("a predicate")
        return self.iri()

    def _alternative(self) -> Path:
        branches = [self._sequence()]
        while self.accept("|"):
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Alternative(tuple(branches))

    def _sequence(self) -> Path:
        steps = [self._step()]
        while self.accept("/"):
            steps.append(self._step())
        return steps[0] if len(steps) == 1 else Sequence(tuple(steps))

    def _step(self) -> Path:
        if self.accept("^"):
            return Inverse(self._modified())
        return self._modified()

    def _modified(self) -> Path:
        path = self._primary_path()
        modifier = _MODIFIERS.get(self.key)
        # `:p +1` is an edge and a number, as the longest token wins.
        if modifier is None or (self.key == "+" and self.touches_number()):
            return path
        self.advance()
        return modifier(path)

    def _primary_path(self) -> Path:
        self._walked += 1
        self.require_steps(self._walked)
        if self.accept("!"):
            return self._negated()
        if not self.accept("("):
            return Link(self._edge())
        self.descend()
        path = self._alternative()
        self._depth -= 1
        self.expect(")")
        return path

    def _negated(self) -> Path:
        forward: list[NamedNode] = []
        inverse: list[NamedNode] = []
        if not self.accept("("):
            self._negated_edge(forward, inverse)
        elif not self.accept(")"):
            self._negated_edge(forward, inverse)
            while self.accept("|"):
                self._negated_edge(forward, inverse)
            self.expect(")")
        return NegatedPropertySet(tuple(forward), tuple(inverse))

    def _negated_edge(self, forward: list[NamedNode], inverse: list[NamedNode]) -> None:
        (inverse if self.accept("^") else forward).append(self._edge())
