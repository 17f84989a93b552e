"""Property paths as values: the nodes that stand as predicate of a path pattern.

Place: part of the syntax tree of `algebra`. Source: SPARQL 1.1 Query Language, section 9.
"""

from dataclasses import dataclass
from typing import TypeAlias

from pyoxigraph import NamedNode


@dataclass(frozen=True, slots=True)
class Link:
    """A path of one edge."""

    iri: NamedNode


@dataclass(frozen=True, slots=True)
class Inverse:
    """`^path`."""

    path: "Path"


@dataclass(frozen=True, slots=True)
class Sequence:
    """`path / path / ...`, two or more steps."""

    steps: "tuple[Path, ...]"


@dataclass(frozen=True, slots=True)
class Alternative:
    """`path | path | ...`, two or more branches."""

    branches: "tuple[Path, ...]"


@dataclass(frozen=True, slots=True)
class ZeroOrMore:
    """`path*`."""

    path: "Path"


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """`path+`."""

    path: "Path"


@dataclass(frozen=True, slots=True)
class ZeroOrOne:
    """`path?`."""

    path: "Path"


@dataclass(frozen=True, slots=True)
class NegatedPropertySet:
    """`!(a | ^b)`: an edge whose predicate is not in `forward`, or back by one not in `inverse`.

    A direction without members is not walked, but `!()` walks forward over every edge.
    """

    forward: tuple[NamedNode, ...]
    inverse: tuple[NamedNode, ...]


Path: TypeAlias = (
    Link
    | Inverse
    | Sequence
    | Alternative
    | ZeroOrMore
    | OneOrMore
    | ZeroOrOne
    | NegatedPropertySet
)
