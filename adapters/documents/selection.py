"""`Path` and `Looked`: selectors of the document formats, in either spelling, over one document.

Place on the way: what a selector says is a path of `json_path` where it is one, else a query of RFC
9535 by `json_query`, whose numbers are compared as numbers; the document is made ready for that
once a message, and only where something asks for it.
"""

import re

from adapters.documents.json_path import ABSENT, Absent, JsonPath
from adapters.documents.json_query import Plain, Query, plain
from adapters.values.fault import Fault
from adapters.values.payload import Json

Path = JsonPath | Query

_OF_RFC = re.compile(r"\.\.|\[\?|\[[^'\"\]]*[:,]|'\s*,")


def compile_path(text: str) -> Path:
    """The path that `text` is. Raises ValueError, with the place or the reason.

    >>> type(compile_path("$.a[id=*]")).__name__, type(compile_path("$..a")).__name__
    ('JsonPath', 'Query')
    """
    try:
        return JsonPath.compile(text)
    except ValueError:
        if not _OF_RFC.search(text):
            raise
    return Query.compile(text)


class Looked:
    """A document and, once a query wants it, the same with numbers that can be compared."""

    __slots__ = ("_document", "_plain")

    def __init__(self, document: Json) -> None:
        self._document = document
        self._plain: list[Plain | Fault] = []

    def plain(self) -> Plain | Fault:
        """The document as queries compare it; a Fault where it is too large for that."""
        if not self._plain:
            self._plain.append(plain(self._document))
        return self._plain[0]

    def one(self, path: Path) -> Json | Absent:
        """What stands at a singular path, or ABSENT."""
        if isinstance(path, JsonPath):
            return path.find(self._document)
        found = path.find_all(self._document, self.plain())
        return ABSENT if isinstance(found, Fault) or not found else found[0][1]

    def all(self, path: Path) -> list[tuple[str, Json]] | Fault:
        """Name and value of all that a path finds; a Fault where the document is too large."""
        if isinstance(path, JsonPath):
            return path.find_all(self._document)
        return path.find_all(self._document, self.plain())
