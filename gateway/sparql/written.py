"""`Writer`: values of `algebra` as SPARQL text again, whole or in parts.

Place: the reverse of `parser`, for who asks a part of somebody's query by itself ("why is this
quiet?"). What is written parses to the same values, but that hidden variables have names, so that
a part can be joined with another part on them.

>>> from gateway.sparql.parser import parse_query
>>> query = parse_query("SELECT ?s { ?s <urn:p> 1 FILTER(?s != <urn:x>) }")
>>> Writer.of(query).group(query.where.elements[:1])
'{ ?s <urn:p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> }'
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode, Variable

from gateway.rdf.namespaces import RDF, XSD
from gateway.sparql import algebra, paths
from gateway.sparql.algebra import Element, Expression, Query, TriplePattern, is_hidden
from gateway.sparql.scope import walk

_Headed = algebra.Graph | algebra.Optional | algebra.Minus | algebra.Service

_INFIX = frozenset({"||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"})
_LOCAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_BARE = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_BARE_TYPES = frozenset({XSD + "integer", XSD + "decimal"})


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes parts of one query; `names` are those of its hidden variables.

    No variable begins with `filler`: it begins the names of columns where `SELECT *` has none.
    With `prefixes`, by name, it writes for people: prefixed names, `a`, numbers as they are.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)
    filler: str = "none"

    @classmethod
    def of(cls, query: Query, prefixes: Mapping[str, str] | None = None) -> "Writer":
        """A writer for a query and parts of it; linear in the query."""
        found = [node for node in walk(query) if isinstance(node, Variable)]
        taken = {each.value for each in found}
        fresh = (name for name in map("blank{}".format, range(10**9)) if name not in taken)
        hidden = dict.fromkeys(each.value for each in found if is_hidden(each))
        filler = "none"
        while any(name.startswith(filler) for name in taken):
            filler += "_"
        return cls({name: next(fresh) for name in hidden}, prefixes or {}, filler)

    def term(self, node: object) -> str:
        """A term, or a variable."""
        if isinstance(node, Variable):
            return f"?{self.names.get(node.value, node.value)}"
        if not self.prefixes:
            return str(node)
        if isinstance(node, NamedNode):
            return self.iri(node.value)
        if isinstance(node, Literal):
            kind = node.datatype.value
            if kind == XSD + "boolean" or (kind in _BARE_TYPES and _BARE.fullmatch(node.value)):
                return node.value
        return str(node)

    def iri(self, iri: str) -> str:
        """An IRI, by the longest prefix that it has where there is one."""
        for name, start in sorted(self.prefixes.items(), key=_longest):
            local = iri.removeprefix(start)
            if local != iri and _LOCAL.fullmatch(local):
                return f"{name}:{local}"
        return f"<{iri}>"

    def group(self, elements: Iterable[Element]) -> str:
        """`{ ... }` with the elements in order."""
        elements = tuple(elements)
        if len(elements) == 1 and isinstance(elements[0], algebra.SubSelect):
            return f"{{ {self.select(elements[0].query)} }}"
        texts: list[str] = []
        last: Element | None = None
        for element in elements:
            if isinstance(last, algebra.BasicPattern) and isinstance(element, algebra.BasicPattern):
                texts.append(".")
            texts.append(self.element(element))
            last = element
        return f"{{ {' '.join(texts)} }}" if texts else "{ }"

    def element(self, element: Element) -> str:
        """One element of a group."""
        match element:
            case algebra.BasicPattern(patterns=patterns):
                return " . ".join(map(self.triple, patterns))
            case algebra.Filter(expression=expression):
                text = self.expression(expression)
                return f"FILTER{text}" if text.startswith("(") else f"FILTER({text})"
            case algebra.Bind(expression=expression, variable=variable):
                return f"BIND({self.expression(expression)} AS {self.term(variable)})"
            case algebra.Values():
                return self._values(element)
            case algebra.SubSelect(query=query):
                return f"{{ {self.select(query)} }}"
            case algebra.Union(branches=branches):
                return " UNION ".join(self.group(each.elements) for each in branches)
            case algebra.Group(elements=elements):
                return self.group(elements)
            case _:
                return f"{self._head(element)} {self.group(element.group.elements)}"

    def _head(self, element: _Headed) -> str:
        match element:
            case algebra.Graph(name=name):
                return f"GRAPH {self.term(name)}"
            case algebra.Optional():
                return "OPTIONAL"
            case algebra.Minus():
                return "MINUS"
            case algebra.Service(name=name, silent=silent):
                return f"SERVICE {'SILENT ' if silent else ''}{self.term(name)}"

    def triple(self, pattern: TriplePattern) -> str:
        """A pattern without the dot behind it."""
        middle = pattern.predicate
        if isinstance(middle, NamedNode | Variable):
            is_type = self.prefixes and middle == NamedNode(RDF + "type")
            verb = "a" if is_type else self.term(middle)
        else:
            verb = self.path(middle)
        return f"{self.term(pattern.subject)} {verb} {self.term(pattern.object)}"

    def path(self, path: paths.Path) -> str:
        """A property path, in brackets where it could be misread."""
        match path:
            case paths.Link(iri=iri):
                return self.term(iri)
            case paths.Inverse(path=inner):
                return f"^{self._inner(inner)}"
            case paths.Sequence(steps=steps):
                return "/".join(map(self._inner, steps))
            case paths.Alternative(branches=branches):
                return "|".join(map(self._inner, branches))
            case paths.ZeroOrMore(path=inner):
                return f"{self._inner(inner)}*"
            case paths.OneOrMore(path=inner):
                return f"{self._inner(inner)}+"
            case paths.ZeroOrOne(path=inner):
                return f"{self._inner(inner)}?"
            case paths.NegatedPropertySet(forward=forward, inverse=inverse):
                members = [*map(self.term, forward), *(f"^{self.term(each)}" for each in inverse)]
                return f"!({'|'.join(members)})"

    def _inner(self, path: paths.Path) -> str:
        text = self.path(path)
        return text if isinstance(path, paths.Link) else f"({text})"

    def expression(self, expression: Expression) -> str:
        """An expression; what has operators is in brackets."""
        match expression:
            case algebra.Operation(name=name, args=args) if name in _INFIX and len(args) > 1:
                return f"({f' {name} '.join(map(self.expression, args))})"
            case algebra.Operation(name=name, args=(only,)) if name in {"!", "-", "+"}:
                return f"({name} {self.expression(only)})"
            case algebra.Operation(name=name, args=args):
                return f"{name}({self._list(args)})"
            case algebra.Call(iri=iri, args=args, distinct=distinct):
                return f"{self.term(iri)}({'DISTINCT ' if distinct else ''}{self._list(args)})"
            case algebra.Aggregate():
                return self._aggregate(expression)
            case algebra.In(value=value, options=options, negated=negated):
                word = "NOT IN" if negated else "IN"
                return f"({self.expression(value)} {word} ({self._list(options)}))"
            case algebra.Exists(group=group, negated=negated):
                return f"{'NOT ' if negated else ''}EXISTS {self.group(group.elements)}"
            case _:
                return self.term(expression)

    def _list(self, expressions: Sequence[Expression]) -> str:
        return ", ".join(map(self.expression, expressions))

    def _aggregate(self, aggregate: algebra.Aggregate) -> str:
        inner = "*" if aggregate.argument is None else self.expression(aggregate.argument)
        distinct = "DISTINCT " if aggregate.distinct else ""
        between = aggregate.separator
        end = "" if between is None else f" ; SEPARATOR={Literal(between)}"
        return f"{aggregate.name}({distinct}{inner}{end})"

    def _values(self, values: algebra.Values) -> str:
        head = " ".join(map(self.term, values.variables))
        rows = (
            f"({' '.join('UNDEF' if each is None else self.term(each) for each in row)})"
            for row in values.rows
        )
        return f"VALUES ({head}) {{ {' '.join(rows)} }}"

    def select(self, query: Query) -> str:
        """A SELECT without prologue and dataset, as a sub-query stands in a group."""
        distinct = "DISTINCT " if query.distinct else "REDUCED " if query.reduced else ""
        parts = [f"SELECT {distinct}{self._projection(query)}", self.group(query.where.elements)]
        if query.group_by:
            parts += ["GROUP BY", *map(self._key, query.group_by)]
        if query.having:
            parts += ["HAVING", *(f"({self.expression(each)})" for each in query.having)]
        if query.order_by:
            parts += ["ORDER BY", *map(self._order, query.order_by)]
        if query.limit is not None:
            parts.append(f"LIMIT {query.limit}")
        if query.offset is not None:
            parts.append(f"OFFSET {query.offset}")
        if query.values is not None:
            parts.append(self._values(query.values))
        return " ".join(parts)

    def _projection(self, query: Query) -> str:
        """The columns; those of `*` one by one, for hidden variables are none of them."""
        if query.projection is None:
            columns = " ".join(map(self.term, query.projected))
            return columns or f"(1 AS ?{self.filler}{query.where.start})"
        return " ".join(map(self._column, query.projection))

    def _column(self, column: algebra.Projection) -> str:
        if column.expression is None:
            return self.term(column.variable)
        return f"({self.expression(column.expression)} AS {self.term(column.variable)})"

    def _key(self, key: algebra.GroupKey) -> str:
        told = "" if key.variable is None else f" AS {self.term(key.variable)}"
        return f"({self.expression(key.expression)}{told})"

    def _order(self, key: algebra.OrderKey) -> str:
        return f"{'DESC' if key.descending else 'ASC'}({self.expression(key.expression)})"


def _longest(prefix: tuple[str, str]) -> tuple[int, str]:
    return -len(prefix[1]), prefix[0]
