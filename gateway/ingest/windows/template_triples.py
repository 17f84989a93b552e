"""`TemplateTriples`: what an UPDATE inserts for its forced bindings, as triples without graphs.

Place: between the profile's templates and the elements of streams, which are made whether or not
the store takes the UPDATE.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Self

from pyoxigraph import BlankNode, Literal, NamedNode, Triple, Variable

from gateway.rdf.canonical import canonical
from gateway.rdf.terms import DEFAULT_GRAPH, Term
from gateway.sparql import algebra
from gateway.sparql.parser import parse_update

_DATATYPE = 45
"""Characters of a datatype's IRI and what is around it."""

_Places = tuple[int, int, int]


class TemplateTriples:
    """The INSERT templates of one text; a triple with a variable that is not bound is left out.

    `quads` are its rows, in the order of the text.

    `graphs` are those that it names to write, the default graph where it names none; `is_named` is
    false where a variable stands for one. What is bound to the names in `canonical_names` is in the
    form of the store already. `names` are those that it has values of; `is_fixed`: as long as all
    of them are bound, it makes as many triples as it has rows, the same ones for the same values.
    """

    def __init__(
        self, quads: Sequence[algebra.QuadPattern], canonical_names: Container[str] = ()
    ) -> None:
        self.quads = quads
        self._canonical_names = canonical_names
        rows = [(quad.subject, quad.predicate, quad.object) for quad in quads]
        nodes = dict.fromkeys(node for row in rows for node in row)
        variables = [node for node in nodes if isinstance(node, Variable)]
        blanks = [node for node in nodes if isinstance(node, BlankNode)]
        constants = [node for node in nodes if not isinstance(node, Variable | BlankNode)]
        place = {node: at for at, node in enumerate((*variables, *constants, *blanks))}
        self._rows: list[_Places] = [(place[s], place[p], place[o]) for s, p, o in rows]
        self.graphs = frozenset(
            DEFAULT_GRAPH if quad.graph is None else quad.graph
            for quad in quads
            if not isinstance(quad.graph, Variable)
        )
        self.is_named = not any(isinstance(quad.graph, Variable) for quad in quads)
        self.names = tuple(variable.value for variable in variables)
        self._foreign = [at for at, n in enumerate(self.names) if n not in canonical_names]
        fixed_places = {place[node] for node in constants}
        self._is_distinct = not any(
            _may_be_equal(one, other, fixed_places) for one, other in combinations(self._rows, 2)
        )
        self._constants = tuple(canonical(node) for node in constants)
        self._blanks = len(blanks)
        self.is_fixed = self._is_distinct and not blanks
        self._columns = tuple(zip(*self._rows, strict=True))
        uses = Counter(at for row in self._rows for at in row)
        self._uses = [uses[at] for at in range(len(variables))]
        fixed = [(place[node], node) for node in (*constants, *blanks)]
        self._size = sum(uses[at] * len(str(node)) for at, node in fixed) + 3 * len(rows)

    @classmethod
    def parse(cls, text: str, canonical_names: Container[str] = ()) -> Self:
        """What an UPDATE inserts. Raises SparqlSyntaxError."""
        operations = parse_update(text).operations
        return cls([quad for each in operations for quad in inserted(each)], canonical_names)

    def __len__(self) -> int:
        """How many triples it makes where all names are bound, equal ones counted twice."""
        return len(self._rows)

    def part(self, keeps: Callable[[algebra.QuadPattern], bool]) -> "TemplateTriples":
        """The same of some of its rows alone."""
        return TemplateTriples([quad for quad in self.quads if keeps(quad)], self._canonical_names)

    def of(self, bindings: Mapping[str, Term]) -> tuple[Triple, ...]:
        """The triples in the form of the store, each once, in the order of the text."""
        values = self._values(bindings)
        if None not in values and self._columns:
            value = values.__getitem__
            try:
                made = list(map(Triple, *[map(value, column) for column in self._columns]))
            except TypeError:
                made = list(self._legal(values))
        else:
            made = list(self._legal(values))
        return tuple(made) if self._is_distinct else tuple(dict.fromkeys(made))

    def terms_of(
        self, values: list[Any], *, are_canonical: bool = False
    ) -> list[tuple[Any, Any, Any]]:
        """What the same triples are made of, where it `is_fixed`; the values of `names`, all bound.

        The list is written to. `are_canonical`: they are in the form of the store already.
        """
        if are_canonical:
            values += self._constants
        else:
            self._place(values)
        return [(values[s], values[p], values[o]) for s, p, o in self._rows]

    def _values(self, bindings: Mapping[str, Term]) -> list[Term | None]:
        """What stands in each place."""
        values: list[Term | None] = list(map(bindings.get, self.names))
        self._place(values)
        return values

    def _place(self, values: list[Any]) -> None:
        """Put what is bound into the form of the store, and what always stands there behind it."""
        for at in self._foreign:
            term = values[at]
            if type(term) is Literal:
                values[at] = canonical(term)
        values += self._constants
        if self._blanks:
            values += [BlankNode() for _ in range(self._blanks)]

    def size(self, bindings: Mapping[str, Term]) -> int:
        """About how long the text of the triples is, much quicker than writing it."""
        size = self._size
        for name, uses in zip(self.names, self._uses, strict=True):
            term = bindings.get(name)
            if isinstance(term, NamedNode):
                size += uses * (len(term.value) + 2)
            elif isinstance(term, Literal):
                size += uses * (len(term.value) + _DATATYPE)
        return size

    def _legal(self, values: list[Term | None]) -> Iterator[Triple]:
        """Without those that have a place unbound, or a literal where none can be."""
        for places in self._rows:
            terms = [values[place] for place in places]
            if None not in terms:
                try:
                    yield Triple(*terms)  # type: ignore[arg-type]  # wrong ones raise
                except TypeError:
                    continue


def _may_be_equal(one: _Places, other: _Places, constants: Container[int]) -> bool:
    """Whether two rows of a template may give one triple: no place has two constants."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
    return not any(a in constants and b in constants for a, b in pairs)


def inserted(operation: algebra.UpdateOperation) -> Iterator[algebra.QuadPattern]:
    """The quads of an operation's INSERT, each with the graph that it goes to."""
    match operation:
        case algebra.InsertData(quads=quads):
            yield from quads
        case algebra.Modify(insert=insert, with_graph=graph):
            for quad in insert:
                yield algebra.QuadPattern(
                    quad.subject, quad.predicate, quad.object, quad.graph or graph
                )
