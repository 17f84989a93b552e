"""`ObservedTerms`: the forced bindings of an observation, each made when somebody asks for it.

Place: between what an observation says and the store, which asks for three of them in the thirteen
as long as nobody looks at the others.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyoxigraph import NamedNode

from gateway.rdf.terms import Term
from gateway.store.bundles.bundle import Entering
from gateway.store.bundles.shape import Shape

Make = Callable[[str, Any], Term]
"""A term of what an observation says; the first is `<base><gateway>`."""


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """What the bindings of one template have in common: how each is made, or what it always is.

    `suffixes` are what the IRIs of its own subjects have behind that of the observation.
    """

    shape: Shape
    makers: Mapping[str, Make]
    fixed: Mapping[str, Term]
    suffixes: tuple[str, ...]
    names: Mapping[str, object] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", {**self.fixed, **self.makers})

    def maker(self, name: str) -> Make | None:
        """What makes the binding of a name; None where it is not bound."""
        make, term = self.makers.get(name), self.fixed.get(name)
        if make is None and term is not None:
            return lambda _base, _told: term
        return make


class ObservedTerms(Entering):
    """The bindings of one observation, of what it has `told`; `result` is made already."""

    __slots__ = ("_base", "_form", "_result", "told")

    def __init__(self, form: Form, base: str, iri: str, told: Any, result: Term) -> None:
        """`base` and `told` are for the makers, `iri` is that of the observation."""
        self.shape = form.shape
        self.iris = tuple([iri + suffix for suffix in form.suffixes])
        self.made = {}
        self.told = told
        self._form = form
        self._base = base
        self._result = result

    def __getitem__(self, name: str) -> Term:
        if name == "result":
            return self._result
        subjects = self.shape.subjects
        if name in subjects:
            return NamedNode(self.iris[subjects.index(name)])
        make = self._form.makers.get(name)
        return self._form.fixed[name] if make is None else make(self._base, self.told)

    def names(self) -> Mapping[str, object]:
        """What is bound."""
        return self._form.names
