"""Quad patterns, what they match, and solutions of several: the queries of the reconstruction.

    patterns and a quad -> bindings -> the patterns that are left, rewritten

Place: below the peers. On the wire a pattern is a quad in which variables are IRIs `var:name`; in
memory it is a tuple of terms and variables, graph first. Source: the paper, section 3.1.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple, Variable

from bench.federation.eventcloud.space import Box, coordinate

Term = NamedNode | BlankNode | Literal | Triple
Pattern = tuple[Term | Variable, ...]
"""Graph, subject, predicate, object."""
Terms = tuple[Term, ...]
Bindings = Mapping[Variable, Term]

_VARIABLE = "var:"
_NONE: Bindings = {}


def terms(quad: Quad) -> Terms:
    """A quad of a named graph, graph first."""
    graph: NamedNode | BlankNode = quad.graph_name  # type: ignore[assignment]
    return graph, quad.subject, quad.predicate, quad.object


def as_quad(pattern: Pattern) -> Quad:
    """A pattern as it travels."""
    graph, subject, predicate, object_ = (
        NamedNode(_VARIABLE + each.value) if isinstance(each, Variable) else each
        for each in pattern
    )
    return Quad(subject, predicate, object_, graph)  # type: ignore[arg-type]


def as_pattern(quad: Quad) -> Pattern:
    """The reverse of `as_quad`."""
    return tuple(map(_variable_or_term, terms(quad)))


@lru_cache(4096)
def _variable_or_term(term: Term) -> Term | Variable:
    if isinstance(term, NamedNode) and term.value.startswith(_VARIABLE):
        return Variable(term.value.removeprefix(_VARIABLE))
    return term


def box_of(pattern: Pattern) -> Box:
    """Where quads may be that a pattern matches."""
    found = [None if isinstance(each, Variable) else coordinate(each) for each in pattern]
    return found[0], found[1], found[2], found[3]


def matched(pattern: Pattern, quad: Terms, known: Bindings = _NONE) -> Bindings | None:
    """What a quad binds, with what is known already; None where it does not match."""
    found = dict(known)
    for wanted, term in zip(pattern, quad, strict=True):
        if not isinstance(wanted, Variable):
            if wanted != term:
                return None
        elif found.setdefault(wanted, term) != term:
            return None
    return found


def rewritten(patterns: Sequence[Pattern], bindings: Bindings) -> Sequence[Pattern]:
    """The patterns with bound variables replaced."""
    return [
        tuple(bindings.get(each, each) if isinstance(each, Variable) else each for each in pattern)
        for pattern in patterns
    ]


def can_match(patterns: Iterable[Pattern]) -> bool:
    """Whether no literal stands where none can: as a subject, or as a predicate."""
    return not any(isinstance(each, Literal) for pattern in patterns for each in pattern[:3])


def solutions(
    patterns: Sequence[Pattern], quads: Iterable[Terms], known: Bindings = _NONE
) -> Iterator[Bindings]:
    """All ways in which quads match all patterns."""
    if not patterns:
        yield known
        return
    quads = tuple(quads)
    for quad in quads:
        found = matched(patterns[0], quad, known)
        if found is not None:
            yield from solutions(patterns[1:], quads, found)


def row_text(number: int, bindings: Bindings) -> str:
    """A solution of a subscription as a line that every way writes the same."""
    cells = sorted((name.value, str(term)) for name, term in bindings.items())
    return f"{number} " + " ".join(f"{name}={term}" for name, term in cells)
