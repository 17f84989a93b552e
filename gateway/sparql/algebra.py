"""SPARQL 1.1 Query and Update as values: the abstract syntax tree that the parser gives.

Place: text of a SUBSCRIBE, QUERY or UPDATE → `parser` → these values → `patterns` (LUTT), the
SPUs and the store. Source: W3C SPARQL 1.1 Query Language (2013), sections 18.2 and 19.8, and
SPARQL 1.1 Update (2013), section 3.

Faithful to the text: nothing is optimised or rewritten except this: property lists and
collections are expanded into triple patterns, a path that is one IRI is that IRI, chains of `||`
and of `&&` are one operation with many arguments (both are associative, errors included).

Terms are pyoxigraph's. A blank node of a pattern is a hidden variable: its name begins with ":",
which no variable of a text can have, so it clashes with none. Values are hashable and compare by
structure; character spans do not take part in comparison.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple, Variable

from gateway.rdf.dataset import Dataset
from gateway.sparql.paths import Path

HIDDEN_PREFIX = ":"

PatternTerm: TypeAlias = NamedNode | BlankNode | Literal | Triple | Variable
"""Subject or object of a pattern; BlankNode in templates only, Triple in no SPARQL 1.1 text."""

VarOrIri: TypeAlias = NamedNode | Variable


def is_hidden(variable: Variable) -> bool:
    """Whether the variable stands for a blank node of a pattern: joined on, never projected."""
    return variable.value.startswith(HIDDEN_PREFIX)


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """One triple pattern, or a property path pattern where `predicate` is a Path."""

    subject: PatternTerm
    predicate: VarOrIri | Path
    object: PatternTerm

    @property
    def is_path(self) -> bool:
        """Whether the predicate is a property path of more than one plain edge."""
        return isinstance(self.predicate, Path)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator or a built-in function by its upper case name, such as `+`, `!`, `BOUND`, `IF`.

    `-` and `+` with one argument are the unary ones. `NOT IN` and `NOT EXISTS` are `In` and
    `Exists`.
    """

    name: str
    args: "tuple[Expression, ...]"


@dataclass(frozen=True, slots=True)
class Call:
    """A function by its IRI: a cast (`xsd:integer(?x)`) or an extension function."""

    iri: NamedNode
    args: "tuple[Expression, ...]"
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Aggregate:
    """COUNT, SUM, MIN, MAX, AVG, SAMPLE or GROUP_CONCAT; `argument` None is `COUNT(*)`.

    `separator` belongs to GROUP_CONCAT; None where the text gives none (then it is a space).
    """

    name: str
    argument: "Expression | None"
    distinct: bool = False
    separator: str | None = None


@dataclass(frozen=True, slots=True)
class In:
    """`value IN (options)`, or NOT IN where `negated`."""

    value: "Expression"
    options: "tuple[Expression, ...]"
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    """`EXISTS group`, or NOT EXISTS where `negated`."""

    group: "Group"
    negated: bool = False


Expression: TypeAlias = Variable | NamedNode | Literal | Operation | Call | Aggregate | In | Exists


@dataclass(frozen=True, slots=True)
class Group:
    """`{ ... }`: elements in the order of the text; a FILTER counts for the whole group.

    `start` and `end` are the character span in the text, braces included. Triple patterns on both
    sides of a FILTER are two elements here, and one basic graph pattern in the specification.
    """

    elements: "tuple[Element, ...]"
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class BasicPattern:
    """Adjacent triple patterns, in the order of the text."""

    patterns: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """`GRAPH name group`."""

    name: VarOrIri
    group: Group


@dataclass(frozen=True, slots=True)
class Optional:
    """`OPTIONAL group`: left join with all that precedes it in its group."""

    group: Group


@dataclass(frozen=True, slots=True)
class Union:
    """`group UNION group ...`, two or more branches."""

    branches: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Minus:
    """`MINUS group`."""

    group: Group


@dataclass(frozen=True, slots=True)
class Filter:
    """`FILTER expression`."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class Bind:
    """`BIND(expression AS variable)`; the variable is new in its group."""

    expression: Expression
    variable: Variable


@dataclass(frozen=True, slots=True)
class Values:
    """`VALUES`: a table, None for UNDEF; every row is as wide as `variables`, rows may repeat."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[NamedNode | Literal | None, ...], ...]


@dataclass(frozen=True, slots=True)
class SubSelect:
    """A sub-query; the only element of its group."""

    query: "Query"


@dataclass(frozen=True, slots=True)
class Service:
    """`SERVICE name group`: parsed, but neither subscribed nor executed."""

    name: VarOrIri
    group: Group
    silent: bool = False


Element: TypeAlias = (
    BasicPattern
    | Group
    | Graph
    | Optional
    | Union
    | Minus
    | Filter
    | Bind
    | Values
    | SubSelect
    | Service
)


class QueryForm(Enum):
    """The four forms of a query (section 16)."""

    SELECT = "SELECT"
    CONSTRUCT = "CONSTRUCT"
    ASK = "ASK"
    DESCRIBE = "DESCRIBE"


@dataclass(frozen=True, slots=True)
class Projection:
    """One column of a SELECT: a variable, computed where there is an expression."""

    variable: Variable
    expression: Expression | None = None


@dataclass(frozen=True, slots=True)
class GroupKey:
    """One key of GROUP BY; `variable` is the name given by AS."""

    expression: Expression
    variable: Variable | None = None


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One comparator of ORDER BY, and where in the text it stands."""

    expression: Expression
    descending: bool = False
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Query:
    """A query, or a sub-query; what its form does not have is empty or None.

    `projection` None is `SELECT *`; `describe` None is `DESCRIBE *`. `template` is CONSTRUCT's,
    with blank nodes. A DESCRIBE without WHERE has an empty group. `values` is the clause after
    the solution modifiers. `dataset` is that of FROM; None where the text leaves it to the service.
    `prefixes` and `base` are the prologue, resolved; they do not take part in comparison.
    """

    form: QueryForm
    where: Group
    projection: tuple[Projection, ...] | None = None
    distinct: bool = False
    reduced: bool = False
    template: tuple[TriplePattern, ...] = ()
    describe: tuple[VarOrIri, ...] | None = ()
    dataset: Dataset | None = None
    group_by: tuple[GroupKey, ...] = ()
    having: tuple[Expression, ...] = ()
    order_by: tuple[OrderKey, ...] = ()
    limit: int | None = None
    offset: int | None = None
    values: Values | None = None
    prefixes: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    base: str | None = field(default=None, compare=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns of the answer: of `SELECT *` sorted by name, as the store has them.

        ASK and DESCRIBE have none; CONSTRUCT's are the positions of its triples.
        """
        if self.form is QueryForm.CONSTRUCT:
            return ("subject", "predicate", "object")
        if self.form is not QueryForm.SELECT:
            return ()
        return tuple(variable.value for variable in self.projected)

    @property
    def projected(self) -> tuple[Variable, ...]:
        """The variables of a SELECT that its solutions can have, each once."""
        if self.projection is not None:
            return tuple(dict.fromkeys(column.variable for column in self.projection))
        found = visible_variables(self.where.elements)
        if self.values is not None:
            found |= dict.fromkeys(self.values.variables)
        return tuple(sorted(found, key=_name))


def _name(variable: Variable) -> str:
    return variable.value


def visible_variables(elements: "Iterable[Element]") -> dict[Variable, None]:
    """The in-scope variables of a group's elements (section 18.2.1), in order of appearance."""
    found: dict[Variable, None] = {}
    for element in elements:
        found.update(_visible(element))
    return found


def _visible(element: Element) -> dict[Variable, None]:
    match element:
        case BasicPattern(patterns=patterns):
            return _pattern_variables(patterns)
        case Bind(variable=variable):
            return {variable: None}
        case Values(variables=variables):
            return dict.fromkeys(variables)
        case SubSelect(query=query):
            return dict.fromkeys(query.projected)
        case Filter() | Minus():
            return {}
        case Union(branches=branches):
            return visible_variables(branches)
        case Group(elements=elements):
            return visible_variables(elements)
        case Optional(group=group):
            return visible_variables(group.elements)
        case Graph(name=name, group=group) | Service(name=name, group=group):
            own = {name: None} if isinstance(name, Variable) and not is_hidden(name) else {}
            return own | visible_variables(group.elements)


def _pattern_variables(patterns: Iterable[TriplePattern]) -> dict[Variable, None]:
    return {
        node: None
        for pattern in patterns
        for node in (pattern.subject, pattern.predicate, pattern.object)
        if isinstance(node, Variable) and not is_hidden(node)
    }


@dataclass(frozen=True, slots=True)
class QuadPattern:
    """One quad of an UPDATE's data or template; `graph` None is the default graph, or WITH's."""

    subject: PatternTerm
    predicate: VarOrIri
    object: PatternTerm
    graph: VarOrIri | None = None


class GraphSet(Enum):
    """What CLEAR and DROP may name instead of one graph."""

    DEFAULT = "DEFAULT"
    NAMED = "NAMED"
    ALL = "ALL"


GraphTarget: TypeAlias = NamedNode | GraphSet


@dataclass(frozen=True, slots=True)
class InsertData:
    """`INSERT DATA`: no variable; one blank node label is one fresh node."""

    quads: tuple[QuadPattern, ...]


@dataclass(frozen=True, slots=True)
class DeleteData:
    """`DELETE DATA`: neither variable nor blank node."""

    quads: tuple[QuadPattern, ...]


@dataclass(frozen=True, slots=True)
class Modify:
    """`DELETE ... INSERT ... WHERE`, and `DELETE WHERE`, whose patterns are its `delete` template.

    Blank nodes of `insert` are fresh for each solution; `delete` has none. The dataset of `where`:
    `using` where it is given, else `with_graph` as default graph, else the whole store's.
    `prefixes` and `base` are those in force at this operation.
    """

    delete: tuple[QuadPattern, ...]
    insert: tuple[QuadPattern, ...]
    where: Group
    with_graph: NamedNode | None = None
    using: Dataset | None = None
    prefixes: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    base: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Load:
    """`LOAD source INTO GRAPH into`; `into` None is the default graph."""

    source: NamedNode
    into: NamedNode | None = None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Clear:
    """`CLEAR`: take all triples out of a graph, or of a set of graphs."""

    target: GraphTarget
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Drop:
    """`DROP`: remove a graph, or a set of graphs."""

    target: GraphTarget
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Create:
    """`CREATE GRAPH`."""

    graph: NamedNode
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Copy:
    """`COPY source TO destination`; None is the default graph."""

    source: NamedNode | None
    destination: NamedNode | None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """`MOVE source TO destination`; None is the default graph."""

    source: NamedNode | None
    destination: NamedNode | None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Add:
    """`ADD source TO destination`; None is the default graph."""

    source: NamedNode | None
    destination: NamedNode | None
    silent: bool = False


UpdateOperation: TypeAlias = (
    InsertData | DeleteData | Modify | Load | Clear | Drop | Create | Copy | Move | Add
)


@dataclass(frozen=True, slots=True)
class Update:
    """The operations of one request, in order; the whole is atomic."""

    operations: tuple[UpdateOperation, ...]


def prologue_text(modify: Modify) -> str:
    """The BASE and PREFIX lines in force at an operation, wherever in the request they stood."""
    base = f"BASE <{modify.base}>\n" if modify.base else ""
    return base + "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in modify.prefixes)


def where_text(update_text: str, modify: Modify, projection: str = "*") -> str:
    """A SELECT text with the solutions of an operation's WHERE; its dataset is not in the text.

    `update_text` is the request that `modify` was parsed from, `projection` what stands behind
    SELECT: variables, expressions with AS, or `*`.
    """
    group = update_text[modify.where.start : modify.where.end]
    return f"{prologue_text(modify)}SELECT {projection} WHERE {group}"
