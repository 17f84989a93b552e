"""What a SensorThings URL says, as values: expressions, query options, the resource path.

Place on the way of the data: between the parsers of this room and what answers. Source: OGC
SensorThings API Part 1: Sensing, version 1.1, section 9; OData Version 4.0, Part 2: URL
Conventions, sections 4 and 5.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias


class Kind(StrEnum):
    """What a literal or an expression is."""

    NUMBER = "number"
    STRING = "string"
    BOOLEAN = "boolean"
    TIME = "time"
    DATE = "date"
    CLOCK = "time of day"
    DURATION = "duration"
    GEOMETRY = "geometry"
    NULL = "null"
    ANY = "value"
    """A result: a number, a text or a truth value, as it comes."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal; `text` is a canonical lexical form, of an interval with its `end`.

    A number is that of an xsd:double, a time that of an xsd:dateTime in UTC, a geometry is WKT.
    """

    kind: Kind
    text: str
    end: str = ""


@dataclass(frozen=True, slots=True)
class Path:
    """A property, perhaps of a related entity: its steps, as written between slashes."""

    steps: tuple[str, ...]

    def __str__(self) -> str:
        return "/".join(self.steps)


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments."""

    name: str
    arguments: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands; `operator` is a word of OData, such as and, eq, add."""

    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Unary:
    """`not`, or `-`."""

    operator: str
    operand: "Expression"


Expression: TypeAlias = Constant | Path | Call | Binary | Unary


@dataclass(frozen=True, slots=True)
class Order:
    """One key of $orderby."""

    expression: Expression
    is_descending: bool = False


@dataclass(frozen=True, slots=True)
class Options:
    """The query options of a collection; `top` None is what the service gives by itself.

    `skip_token` is where a page behind the store goes on: a position of the journal.
    """

    filter: Expression | None = None
    order_by: tuple[Order, ...] = ()
    select: tuple[str, ...] = ()
    expand: tuple["Expansion", ...] = ()
    top: int | None = None
    skip: int = 0
    count: bool = False
    result_format: str = ""


NO_OPTIONS = Options()


@dataclass(frozen=True, slots=True)
class Expansion:
    """A related entity, or collection, that comes along."""

    name: str
    options: Options = field(default=NO_OPTIONS)


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a resource path: a name, and the id in parentheses behind it."""

    name: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ResourcePath:
    """A resource: `segments` lead to an entity or a collection.

    `property` is what is asked of the entity alone, `is_value` where its bare value is; `is_refs`
    asks for addresses only.
    """

    segments: tuple[Segment, ...]
    property: str = ""
    is_value: bool = False
    is_refs: bool = False
