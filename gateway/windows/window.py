"""`Window`: a declaration, normalised, so that equal ones are one window.

    JSON, a name in the graph of mappings, Python → Window → Streams.open → Content

A window is a read-only RDF graph: the triples of some recent elements of one stream, as a set.
Its members say which stream (`stream`, narrowed by `sensor`, `property`, `feature`), how much of
it (one of `range`, `triples`, `elements`), when it moves (`step`), by which time and clock (`time`,
`clock`, `lateness`, `late`, `zone`), and what may never happen (`limit`, `overflow`). What each
means for the content: `gateway.windows`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, Unpack

from gateway.errors import WindowError
from gateway.windows.durations import duration_text
from gateway.windows.members import (
    IRIS,
    LENGTHS,
    MEMBERS,
    NOT_YET,
    SIZES,
    Length,
    Others,
    check,
    iri,
    normal,
)

OUTPUTS = ("changes", "added", "removed", "whole")
"""What a subscription may be told of its rows (`output`); without a word, the first."""

Expand = Callable[[str], str]
"""From an IRI, or a name with a prefix, to the IRI."""


def as_written(name: str) -> str:
    """For who writes every IRI out."""
    return name


@dataclass(frozen=True, slots=True, init=False)
class Window:
    """What is seen of a stream. Durations are µs, for the constructor ISO 8601 or timedelta too.

    Exactly one of `range`, `triples` and `elements`; `step` None is continuous, else a duration
    beside `range`, a count beside the others. `sensor`, `property`, `feature`: sorted, each once;
    none: all. Hashable; what cannot be raises WindowError, which names the member.
    """

    stream: str
    range: int | None
    triples: int | None
    elements: int | None
    step: int | None
    per: str | None
    sensor: tuple[str, ...]
    property: tuple[str, ...]
    feature: tuple[str, ...]
    lateness: int
    late: str
    time: str
    clock: str
    zone: str | None
    limit: int | None
    overflow: str
    bounds: bool

    def __init__(
        self,
        stream: str,
        range: Length | None = None,  # noqa: A002  # the member's name
        triples: int | None = None,
        elements: int | None = None,
        **others: Unpack[Others],
    ) -> None:
        sizes = {"range": range, "triples": triples, "elements": elements}
        given = {"stream": stream} | sizes | others
        for member in given.keys() - MEMBERS.keys():
            raise WindowError(member, "no such member", f"there are {', '.join(MEMBERS)}")
        for member, value in (MEMBERS | given).items():
            object.__setattr__(self, member, normal(member, value, range is not None))
        check(self)

    @classmethod
    def parse(cls, members: object, *, where: str, expand: Expand = as_written) -> Self:
        """The window of a JSON object; `expand` makes IRIs of names with a prefix.

        Raises WindowError: it says `where`, which member, why, and what would be right.
        """
        try:
            return cls(**_given(members, expand))
        except WindowError as error:
            raise error.within(where) from None

    def sees(self, key: tuple[str, str, str] | None) -> bool:
        """Whether the elements of a key are seen; a window that narrows nothing sees all."""
        wanted = (self.sensor, self.property, self.feature)
        if not any(wanted):
            return True
        if key is None:
            return False
        return all(not iris or iri in iris for iris, iri in zip(wanted, key, strict=True))

    def members(self) -> dict[str, object]:
        """The declaration as JSON: durations as text, and only what is not so by default."""
        found = {each: getattr(self, each) for each in MEMBERS}
        return {
            member: self._written(member, value)
            for member, value in found.items()
            if value != MEMBERS[member]
        }

    def size(self) -> str:
        """How much it sees, for a person.

        >>> Window("urn:building", "PT600S").size(), Window("urn:building", triples=100).size()
        ('range PT10M', 'triples 100')
        """
        (member,) = (each for each in SIZES if getattr(self, each) is not None)
        return f"{member} {self._written(member, getattr(self, member))}"

    def _written(self, member: str, value: Any) -> object:
        if member in LENGTHS and self.range is not None:
            return duration_text(value)
        return list(value) if member in IRIS else value


def parse_windows(value: object, expand: Expand = as_written) -> tuple[tuple[str, Window], ...]:
    """The member `windows` of a request, windows by their IRIs: sorted by them.

    Raises WindowError, which says of which window what is wrong.
    """
    if not isinstance(value, Mapping):
        raise WindowError("windows", "is no JSON object", "give declarations by windows' IRIs")
    found: dict[str, Window] = {}
    for name, members in value.items():
        where = f"windows: {name}"
        named = iri(where, expand(name) if isinstance(name, str) else name)
        if named in found:
            raise WindowError(where, "is declared twice", "give it once")
        found[named] = Window.parse(members, where=where, expand=expand)
    return tuple(sorted(found.items()))


def _given(members: object, expand: Expand) -> dict[str, Any]:
    """Arguments of the constructor; of what cannot be one it is said why."""
    if not isinstance(members, Mapping):
        raise WindowError(
            "", "a window is a JSON object", 'such as {"stream": …, "range": "PT10M"}'
        )
    given = {}
    for member, value in members.items():
        if member in NOT_YET:
            raise WindowError(member, NOT_YET[member])
        if not isinstance(member, str):
            raise WindowError(repr(member), "is no name of a member")
        if value is None:
            raise WindowError(member, "is null", "leave it out, or give it a value")
        given[member] = _expanded(member, value, expand)
        if member in LENGTHS and not isinstance(value, str) and members.get("range") is not None:
            raise WindowError(member, "is no text", 'write a duration, such as "PT10M"')
    if "stream" not in given:
        raise WindowError("stream", "of which stream is it?", "give the stream's IRI")
    return given


def _expanded(member: str, value: Any, expand: Expand) -> Any:
    if member != "stream" and member not in IRIS:
        return value
    if isinstance(value, str):
        return expand(value)
    if isinstance(value, list):
        return [expand(each) if isinstance(each, str) else each for each in value]
    return value
