"""The kinds of axioms, as values over class expressions; gateway/reasoning/axioms.py reads them.

Each is one rule of OWL 2 RL (OWL 2 Profiles, 2012, section 4.3), or two. A class expression on the
left of `SubClass` is a condition: what is a member. On the right it is a conclusion, and only what
can be concluded stands there: a name, HasValue, Only. Axioms are equal where they say the same,
whichever quads say it.
"""

from dataclasses import dataclass, field

from pyoxigraph import NamedNode, Quad

from gateway.rdf.namespaces import OWL
from gateway.rdf.terms import Term

THING = NamedNode(OWL + "Thing")
"""As the filler of `Some`: anything, literals too (cls-svf2)."""

NOTHING = NamedNode(OWL + "Nothing")
"""What is a member contradicts the axioms; the membership itself is no conclusion."""


@dataclass(frozen=True, slots=True)
class Some:
    """Who has a `property` to a member of `filler` (cls-svf1, cls-svf2)."""

    property: NamedNode
    filler: "Expression"


@dataclass(frozen=True, slots=True)
class HasValue:
    """Who has a `property` to `value` (cls-hv1, cls-hv2)."""

    property: NamedNode
    value: Term


@dataclass(frozen=True, slots=True)
class And:
    """Who is a member of each part; there is one at least (cls-int1)."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Who is a member of any part; there is one at least (cls-uni)."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Only:
    """Who has each `property` to a member of `filler`: on the right alone (cls-avf)."""

    property: NamedNode
    filler: "Conclusion"


Expression = NamedNode | Some | HasValue | And | Or
"""A condition; a name is of a class, THING stands only in `Some`."""

Conclusion = NamedNode | HasValue | Only
"""What a member of a class has or is besides."""


@dataclass(frozen=True, slots=True)
class SubClass:
    """What is a member of `sub` is one of `sup` (cax-sco, cax-eqc)."""

    sub: Expression
    sup: Conclusion
    quads: tuple[Quad, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SubProperty:
    """Where `sub` holds, `sup` does (prp-spo1, prp-eqp)."""

    sub: NamedNode
    sup: NamedNode
    quads: tuple[Quad, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Inverse:
    """Each holds where the other does, the other way round (prp-inv1, prp-inv2)."""

    first: NamedNode
    second: NamedNode
    quads: tuple[Quad, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Symmetric:
    """A property that holds both ways round (prp-symp)."""

    property: NamedNode
    quads: tuple[Quad, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DomainOf:
    """Who has the property is a member (prp-dom)."""

    property: NamedNode
    cls: Conclusion
    quads: tuple[Quad, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RangeOf:
    """What the property leads to is a member, unless it is a literal (prp-rng)."""

    property: NamedNode
    cls: Conclusion
    quads: tuple[Quad, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Transitive:
    """A property that holds over two steps too (prp-trp)."""

    property: NamedNode
    quads: tuple[Quad, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Chain:
    """Where the parts hold one after the other, `sup` does; one part at least (prp-spo2)."""

    parts: tuple[NamedNode, ...]
    sup: NamedNode
    quads: tuple[Quad, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Disjoint:
    """Who is a member of both contradicts the axioms (cax-dw); `first` sorts before `second`."""

    first: NamedNode
    second: NamedNode
    quads: tuple[Quad, ...] = field(default=(), compare=False, repr=False)


Axiom = (
    SubClass
    | SubProperty
    | Inverse
    | Symmetric
    | DomainOf
    | RangeOf
    | Transitive
    | Chain
    | Disjoint
)
