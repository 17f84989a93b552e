"""Terms: IRIs, prefixed names, literals and variables, and the prologue that they depend on.

Place: first layer of the parser. Source: SPARQL 1.1 Query Language, sections 4.1 and 19.8 rules
[4] to [6] and [128] to [137].
"""

import re
from collections.abc import Callable
from typing import TypeVar

from pyoxigraph import Literal, NamedNode, Variable

from gateway.rdf.namespaces import GW, QUDT, RDF, RDFS, SOSA, SSN, TIME, UNIT, XSD
from gateway.sparql.bounds.counter import FormCounter
from gateway.sparql.iris import is_absolute, resolve
from gateway.sparql.parameters import Parameters
from jsap.lexer import Token, string_value

NUMBER_TYPES = {
    "integer": NamedNode(XSD + "integer"),
    "decimal": NamedNode(XSD + "decimal"),
    "double": NamedNode(XSD + "double"),
}
BOOLEANS = {
    "TRUE": Literal("true", datatype=NamedNode(XSD + "boolean")),
    "FALSE": Literal("false", datatype=NamedNode(XSD + "boolean")),
}
LITERAL_STARTS = frozenset({"string", "+", "-", *NUMBER_TYPES, *BOOLEANS})

Constant = TypeVar("Constant", NamedNode, Literal)

_USUAL = {
    "gw": GW,
    "qudt": QUDT,
    "rdf": RDF,
    "rdfs": RDFS,
    "sosa": SOSA,
    "ssn": SSN,
    "time": TIME,
    "unit": UNIT,
    "xsd": XSD,
}
"""What people mean who forget to say it."""

_ESCAPED = re.compile(r"\\(.)")
_CODE_POINT = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


class TermParser(FormCounter):
    """Reads terms; `base` is an absolute IRI or empty, a declared prefix holds from there on."""

    def __init__(self, text: str, base: str = "", parameters: Parameters | None = None) -> None:
        super().__init__(text)
        self.base = base
        self._parameters = parameters
        self.prefixes: dict[str, str] = {}
        self._names: dict[str, NamedNode] = {}

    def prologue(self) -> None:
        """BASE and PREFIX lines, any number of each."""
        while self.key in {"BASE", "PREFIX"}:
            if self.advance().text.upper() == "BASE":
                self.base = self._iri_reference().value
            else:
                self._prefix()
            self._names.clear()

    def _prefix(self) -> None:
        token = self.expect("pname", "a prefix with its colon")
        if not token.text.endswith(":") or token.text.count(":") > 1:
            raise self.error(f"{token.text!r} is not a prefix with its colon", token.start)
        if self.key != "iriref":
            self.fail("an IRI in angle brackets")
        self.prefixes[token.text[:-1]] = self._iri_reference().value

    def iri(self) -> NamedNode:
        """An IRI in angle brackets or a prefixed name."""
        if self.key == "pname":
            return self._prefixed_name()
        if self.key != "iriref":
            self.fail("an IRI")
        return self._iri_reference()

    def _prefixed_name(self) -> NamedNode:
        token = self.advance()
        name = self._names.get(token.text)
        if name is None:
            name = self._names[token.text] = self._expanded(token)
        return name

    def _expanded(self, token: Token) -> NamedNode:
        prefix, _, local = token.text.partition(":")
        namespace = self.prefixes.get(prefix)
        if namespace is None:
            usual = f"; add PREFIX {prefix}: <{_USUAL[prefix]}>" if prefix in _USUAL else ""
            raise self.error(f"the prefix {prefix}: is not declared{usual}", token.start)
        if "\\" in local:
            local = _ESCAPED.sub(r"\1", local)
        return self._named_node(namespace + local, token)

    def _iri_reference(self) -> NamedNode:
        token = self.expect("iriref")
        iri = token.text[1:-1]
        if "\\" in iri:
            iri = _CODE_POINT.sub(lambda match: chr(int(match[1] or match[2], 16)), iri)
        if self.base:
            iri = resolve(self.base, iri)
        elif not is_absolute(iri):
            raise self.error(f"the relative IRI <{iri}> has no BASE", token.start)
        return self._named_node(iri, token)

    def _named_node(self, iri: str, token: Token) -> NamedNode:
        try:
            return NamedNode(iri)
        except ValueError as error:
            raise self.error(f"<{iri}> is not an IRI: {error}", token.start) from error

    def variable(self) -> Variable:
        """`?name` or `$name`."""
        return Variable(self.expect("var").text[1:])

    def constant_iri(self) -> NamedNode | Variable:
        """An IRI where a variable may stand as well; a variable if it is a parameter."""
        known = self._parameters
        return self.iri() if known is None else self._stand_in(self.iri, known)

    def constant_literal(self) -> Literal | Variable:
        """A literal where a variable may stand as well; a variable if it is a parameter."""
        known = self._parameters
        return self.literal() if known is None else self._stand_in(self.literal, known)

    def _stand_in(self, read: Callable[[], Constant], known: Parameters) -> Constant | Variable:
        token = self.token
        prefix = token.text.partition(":")[0] if self.key == "pname" else None
        start = token.start + len(prefix or "")
        constant = read()
        span = (start, self.last_end)
        return known.stand_in(span, prefix, self.prefixes, self.base) or constant

    def variable_or_iri(self) -> Variable | NamedNode:
        """A variable or an IRI: grammar rule VarOrIri."""
        if self.key == "var":
            return self.variable()
        if self.key not in {"iriref", "pname"}:
            self.fail("a variable or an IRI")
        return self.constant_iri()

    def literal(self) -> Literal:
        """A string, a number with its sign, or a boolean."""
        if self.key == "string":
            return self._string_literal()
        if self.key in BOOLEANS:
            return BOOLEANS[self.advance().text.upper()]
        sign = ""
        if self.key in {"+", "-"} and self.touches_number():
            sign = self.advance().text
        datatype = NUMBER_TYPES.get(self.key)
        if datatype is None:
            self.fail("a literal")
        return Literal(sign + self.advance().text, datatype=datatype)

    def _string_literal(self) -> Literal:
        token = self.token
        value = self.string()
        language = self.advance().text[1:] if self.key == "langtag" else None
        datatype = self.iri() if language is None and self.accept("^^") else None
        try:
            return Literal(value, datatype=datatype, language=language)
        except ValueError as error:
            raise self.error(f"{token.text} is not a literal: {error}", token.start) from error

    def string(self) -> str:
        """The value of a string, escapes resolved."""
        return string_value(self.expect("string").text)
