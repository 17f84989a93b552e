"""Syntax trees with variables renamed and EXISTS taken out, and which functions are known.

Place: under `translate`. Values in, values out: the parser's tree itself stays as it is.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, Generic, TypeVar

from pyoxigraph import Variable

from gateway.rdf.namespaces import XSD
from gateway.sparql import algebra
from gateway.sparql.algebra import Exists, Expression
from gateway.sparql.scope import walk

__all__ = ["Expression", "Replacement", "is_known", "replaced"]

Node = TypeVar("Node")

_FUNCTIONS_OF_MORE = frozenset({"NOW", "RAND", "UUID", "STRUUID", "BNODE"})


def is_known(tree: Expression) -> bool:
    """Whether the value is a function of the arguments alone, and not one of the user's."""
    return not any(
        (isinstance(node, algebra.Operation) and node.name in _FUNCTIONS_OF_MORE)
        or (isinstance(node, algebra.Call) and not node.iri.value.startswith(XSD))
        or isinstance(node, algebra.Aggregate | Exists)
        for node in walk(tree)
    )


def replaced(tree: Node, names: Mapping[str, str]) -> Node:
    """The tree with variables renamed."""
    renamed: Node = _mapped(tree, {Variable(old): Variable(new) for old, new in names.items()})
    return renamed


class Replacement(Generic[Node]):
    """Puts a variable in the place of each node of a kind: EXISTS, or aggregates."""

    def __init__(self, kind: type[Node], name_of: Callable[[Node], Variable]) -> None:
        self._kind = kind
        self._name_of = name_of

    def expression(self, tree: Expression) -> Expression:
        """The expression with a variable in place of each such node."""
        if isinstance(tree, self._kind):
            return self._name_of(tree)
        match tree:
            case algebra.Operation(args=args) | algebra.Call(args=args):
                return replace(tree, args=tuple(map(self.expression, args)))
            case algebra.In(value=value, options=options):
                return replace(
                    tree,
                    value=self.expression(value),
                    options=tuple(map(self.expression, options)),
                )
            case _:
                return tree


def _mapped(tree: Any, terms: Mapping[Variable, Variable]) -> Any:
    if isinstance(tree, Variable):
        return terms.get(tree, tree)
    if isinstance(tree, tuple):
        return tuple(_mapped(each, terms) for each in tree)
    if type(tree).__module__ != algebra.__name__:
        return tree
    changed = {
        field.name: _mapped(getattr(tree, field.name), terms)
        for field in fields(tree)
        if field.name not in {"prefixes", "base", "form", "start", "end"}
    }
    return replace(tree, **changed)
