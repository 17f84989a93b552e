"""The form of an RDF document, looked at before a parser sees it: how deep, how large in the end.

Place: before `documents` has it parsed. Native parsers keep nested terms and JSON on their stack,
and an entity of XML may stand for a gigabyte; both can be told from the bytes. Sources: RDF 1.2
Turtle, 6.5 (tokens); RFC 8259; XML 1.0, 2.8 and 4 (internal entities, which editors of OWL use).
"""

import re
from collections.abc import Iterable, Iterator

from pyoxigraph import RdfFormat

from gateway.errors import BadRequestError, TooLargeError

MOST_EXPANSION = 10
"""A document of XML may become so many times as long by its entities."""

_JSON = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]]', re.DOTALL)
_TURTLE = re.compile(
    rb'"""(?:[^"\\]++|\\.|"(?!""))*+"""'
    rb"|'''(?:[^'\\]++|\\.|'(?!''))*+'''"
    rb'|"(?:[^"\\\r\n]++|\\.)*+"'
    rb"|'(?:[^'\\\r\n]++|\\.)*+'"
    rb'|<[^<>"{}|^`\x00-\x20]*+>'
    rb"|#[^\r\n]*+|\\.|<<\(?|\)?>>|[\[\](){}]",
    re.DOTALL,
)
_XML = re.compile(
    rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<!DOCTYPE|"
    rb"</|<[^\s/>](?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>",
    re.DOTALL,
)
_SUBSET = re.compile(
    rb"<!DOCTYPE\s+[^\s\[>]+\s*(?:\[(?P<subset>(?:[^\]\"']++|\"[^\"]*+\"|'[^']*+')*+)\]\s*)?>"
)
_DECLARATION = re.compile(
    rb"\s+|<!--.*?-->|<!ENTITY\s+(?P<name>[^\s%&;\"'<>]+)\s+"
    rb"(?:\"(?P<double>[^\"]*+)\"|'(?P<single>[^']*+)')\s*>",
    re.DOTALL,
)
_REFERENCE = re.compile(rb"&([^#;&\s][^;&\s]*);")

_PREDEFINED = (b"amp", b"lt", b"gt", b"quot", b"apos")
_OPENING = frozenset((b"{", b"[", b"(", b"<<", b"<<("))
_CLOSING = frozenset((b"}", b"]", b")", b">>", b")>>"))


def require_form(content: bytes, form: RdfFormat, depth: int) -> None:
    """Refuse what is nested more than `depth` deep or expands too far; linear in the document.

    Raises TooLargeError, and BadRequestError for a DTD that is more than internal entities.
    """
    if form.media_type == RdfFormat.RDF_XML.media_type:
        _require_xml(content, depth)
        return
    tokens = _JSON if form.media_type == RdfFormat.JSON_LD.media_type else _TURTLE
    _require_depth(_steps(tokens, content), depth)


def _steps(tokens: re.Pattern[bytes], content: bytes) -> Iterator[int]:
    for match in tokens.finditer(content):
        token = match.group()
        if token in _OPENING:
            yield 1
        elif token in _CLOSING:
            yield -1


def _require_depth(steps: Iterable[int], most: int) -> None:
    depth = 0
    for step in steps:
        depth += step
        if depth > most:
            raise TooLargeError(
                f"the document is nested more than {most} deep",
                "write it flatter, or raise [limits] document_depth",
            )


def _require_xml(content: bytes, depth: int) -> None:
    if b"\x00" in content or content[:2] in (b"\xfe\xff", b"\xff\xfe"):
        raise BadRequestError("the document is not UTF-8", "send XML in UTF-8")
    _require_depth(_elements(content), depth)


def _elements(content: bytes) -> Iterator[int]:
    for match in _XML.finditer(content):
        token = match.group()
        if token == b"<!DOCTYPE":
            _require_entities(content, match.start())
        elif token == b"</":
            yield -1
        elif token[:2] not in (b"<!", b"<?") and not token.endswith(b"/>"):
            yield 1


def _require_entities(content: bytes, start: int) -> None:
    found = _SUBSET.match(content, start)
    if found is None:
        raise BadRequestError(
            "the DTD is not internal", "declare entities in the document, without SYSTEM or PUBLIC"
        )
    lengths = dict.fromkeys(_PREDEFINED, 1)
    for name, value in _entities(found["subset"] or b""):
        if b"<" in value or not lengths.keys() >= set(_REFERENCE.findall(value)):
            raise BadRequestError(
                "an entity has markup, or one that is not declared before it",
                "use entities for text alone, and declare each before it is used",
            )
        lengths.setdefault(name, _expanded(value, lengths))
        _require_length(lengths[name], content)
    _require_length(_expanded(content[found.end() :], lengths), content)


def _entities(subset: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Name and value of each; nothing else may be declared."""
    place = 0
    while place < len(subset):
        found = _DECLARATION.match(subset, place)
        if found is None:
            raise BadRequestError(
                "the DTD has more than internal entities", "leave out everything else of it"
            )
        place = found.end()
        if found["name"] is not None:
            yield found["name"], found["double"] or found["single"] or b""


def _expanded(text: bytes, lengths: dict[bytes, int]) -> int:
    """The length once entities are replaced; the parser refuses those that nobody declares."""
    more = (lengths.get(name, 0) for name in _REFERENCE.findall(text))
    return len(text) + sum(more)


def _require_length(length: int, content: bytes) -> None:
    if length > MOST_EXPANSION * len(content):
        raise TooLargeError(
            f"the entities of the document make it more than {MOST_EXPANSION} times as long",
            "write out what they stand for",
        )
