"""`Path` and `Looked`: selectors of the document formats, in either spelling, over one document.

Place on the way: what a selector says is a path of `json_path` where it is one, else a query of RFC
9535 by `json_query`, whose numbers are compared as numbers; the document is made ready for that
once a message, and only where something asks for it.
"""

import re

from adapters.documents.json_path import ABSENT, Absent, JsonPath
from adapters.documents.json_query import Condition, Plain, Query, plain
from adapters.documents.point import Point
from adapters.values.fault import Fault
from adapters.values.payload import Json
from adapters.values.result import Result

Path = JsonPath | Query | Point

Value = Json | Result | Fault
"""What stands at a path; of a position what it was read as."""

_OF_RFC = re.compile(r"\.\.|\[\?|\[[^'\"\]]*[:,]|'\s*,")


def compile_path(text: str) -> Path:
    """The path that `text` is. Raises ValueError, with the place or the reason.

    >>> type(compile_path("$.a[id=*]")).__name__, type(compile_path("$..a")).__name__
    ('JsonPath', 'Query')
    """
    if text.startswith("point"):
        return Point.compile(text)
    try:
        return JsonPath.compile(text)
    except ValueError:
        if not _OF_RFC.search(text):
            raise
    return Query.compile(text)


class Looked:
    """A document and, once a query wants it, the same with numbers that can be compared."""

    __slots__ = ("_document", "_held", "_plain")

    def __init__(self, document: Json) -> None:
        self._document = document
        self._plain: list[Plain | Fault] = []
        self._held: dict[str, bool | Fault] = {}

    def plain(self) -> Plain | Fault:
        """The document as queries compare it; a Fault where it is too large for that."""
        if not self._plain:
            self._plain.append(plain(self._document))
        return self._plain[0]

    def holds(self, condition: Condition) -> bool | Fault:
        """Whether it is true of the document, found out once however many mappings have it."""
        known = self._held.get(condition.text)
        if known is None:
            compared = self.plain()
            known = compared if isinstance(compared, Fault) else condition.holds(compared)
            self._held[condition.text] = known
        return known

    def one(self, path: Path) -> Value | Absent:
        """What stands at a singular path, or ABSENT."""
        if not isinstance(path, Query):
            return path.find(self._document)
        found = path.find_all(self._document, self.plain())
        return ABSENT if isinstance(found, Fault) or not found else found[0][1]

    def all(self, path: Path) -> list[tuple[str, Value]] | Fault:
        """Name and value of all that a path finds; a Fault where the document is too large."""
        if isinstance(path, Point):
            value = path.find(self._document)
            return [] if isinstance(value, Absent) else [("", value)]
        if isinstance(path, JsonPath):
            return [*path.find_all(self._document)]
        found = path.find_all(self._document, self.plain())
        return found if isinstance(found, Fault) else [*found]
