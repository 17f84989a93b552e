"""Forced bindings: what a variable of a template may be bound to, and values turned into terms.

Place: between an observation (or a caller's values) and the bound UPDATE. Source: JSAP,
`forcedBindings`: type, value, datatype, language. Terms are values here; text that could change a
query does not come to be.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum

from pyoxigraph import BlankNode, Literal, NamedNode

from jsap.lexical_forms import is_lexical_form, number_form
from jsap.namespaces import XSD

Term = NamedNode | BlankNode | Literal
"""What a variable can be bound to."""

Value = Term | str | int | float | Decimal
"""What a caller may give; a bool is an int."""


class BindingType(Enum):
    """The `type` of a forced binding."""

    URI = "uri"
    BNODE = "bnode"
    LITERAL = "literal"


_CLASSES: dict[BindingType, type[Term]] = {
    BindingType.URI: NamedNode,
    BindingType.BNODE: BlankNode,
    BindingType.LITERAL: Literal,
}
_NAMES: dict[type, str] = {NamedNode: "an IRI", BlankNode: "a blank node", Literal: "a literal"}
_NUMBER_DATATYPES = {int: "integer", float: "double", Decimal: "decimal"}


def _absolute(text: str) -> NamedNode:
    return NamedNode(text)


@dataclass(frozen=True, slots=True)
class ForcedBinding:
    """One variable's declaration; `datatype` and `language` are of literals, at most one is given.

    `default` is the profile's own value, None where the caller has to give one. `expand_iri` makes
    the IRI of a text, so that the profile's prefixed names are understood; raises ValueError.
    """

    binding_type: BindingType
    datatype: NamedNode | None = None
    language: str | None = None
    default: Term | None = None
    expand_iri: Callable[[str], NamedNode] = field(default=_absolute, compare=False)

    @property
    def term_class(self) -> type[Term]:
        """The class of the terms that fit."""
        return _CLASSES[self.binding_type]

    @property
    def wanted(self) -> str:
        """What fits, for people: `a literal of datatype <...>`."""
        if self.binding_type is not BindingType.LITERAL:
            return _NAMES[self.term_class]
        if self.language is not None:
            return f"a text in the language {self.language}"
        return "a literal" if self.datatype is None else f"a literal of datatype {self.datatype}"

    def term(self, value: Value) -> Term:
        """The term for a value. Raises ValueError with the reason where it does not fit.

        Of a literal that is a term already only datatype and language are looked at; the lexical
        form is checked where we make the literal.
        """
        if isinstance(value, NamedNode | BlankNode | Literal):
            return self._checked(value)
        match self.binding_type:
            case BindingType.URI:
                return self.expand_iri(_text(value))
            case BindingType.BNODE:
                return BlankNode(_text(value).removeprefix("_:"))
            case BindingType.LITERAL:
                return self._literal(value)

    def _checked(self, term: Term) -> Term:
        if type(term) is not self.term_class:
            raise ValueError(f"{term} is {_NAMES[type(term)]}, not {self.wanted}")
        if isinstance(term, Literal):
            if self.datatype is not None and term.datatype != self.datatype:
                raise ValueError(f"{term} is not of datatype {self.datatype}")
            if self.language is not None and term.language != self.language:
                raise ValueError(f"{term} is not in the language {self.language}")
        return term

    def _literal(self, value: str | float | Decimal) -> Literal:
        if self.language is not None:
            return Literal(_text(value), language=self.language)
        datatype = self.datatype.value if self.datatype is not None else _datatype(value)
        if datatype is None:
            return Literal(_text(value))
        form = _form(value, datatype)
        if not is_lexical_form(form, datatype):
            raise ValueError(f"{form!r} is no <{datatype}>")
        return Literal(form, datatype=NamedNode(datatype))


def _text(value: str | float | Decimal) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value


def _datatype(value: str | float | Decimal) -> str | None:
    """The datatype of a value for which none is declared; None for text."""
    if isinstance(value, bool):
        return XSD + "boolean"
    name = _NUMBER_DATATYPES.get(type(value))
    return None if name is None else XSD + name


def _form(value: str | float | Decimal, datatype: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        if datatype != XSD + "boolean":
            raise ValueError(f"{value!r} is no <{datatype}>")
        return "true" if value else "false"
    if not isinstance(value, int | float | Decimal):
        raise ValueError(f"a {type(value).__name__} is no term, text or number")
    if datatype == XSD + "boolean":
        raise ValueError(f"{value!r} is no <{datatype}>")
    return number_form(value, datatype)
