"""The resource path of a SensorThings URL: `Things('a')/Datastreams('b')/Observations`.

Place: one of the parsers of this room; what it names is looked up later. Source: OGC SensorThings
API Part 1: Sensing, version 1.1, section 9.2; OData Version 4.0 ABNF, resourcePath.
"""

import re

from gateway.exchange.sensorthings.url.bounds import BOUNDS, too_much, wrong
from gateway.exchange.sensorthings.url.syntax import ResourcePath, Segment

_NAME = re.compile(r"\$?[A-Za-z][A-Za-z0-9_]*|@iot\.[A-Za-z]+")
_ID = re.compile(r"\('((?:[^']|'')*)'\)|\(([0-9]{1,18})\)")
_VALUE, _REFS = "$value", "$ref"


def parse_resource_path(path: str) -> ResourcePath:
    """A path, decoded, without the slash before it. Raises BadRequestError, TooComplexError.

    >>> parse_resource_path("Things('a')/Datastreams").segments[-1]
    Segment(name='Datastreams', id=None)
    >>> parse_resource_path("Things('a')/name/$value").property
    'name'
    """
    if len(path) > BOUNDS.characters:
        raise too_much("the path: characters", BOUNDS.characters)
    segments = _segments(path.rstrip("/"))
    last = segments[-1].name
    is_value, is_refs = last == _VALUE, last == _REFS
    if is_value or is_refs:
        segments.pop()
    if any(each.name.startswith("$") for each in segments) or not segments:
        raise wrong("the path", "$value and $ref stand at its end, behind what they are about")
    told = ""
    if segments[-1].name[:1].islower() or segments[-1].name.startswith("@"):
        told = segments.pop().name
    if not segments or (is_value and not told):
        raise wrong("the path", "begins with the name of a set, such as Things")
    return ResourcePath(tuple(segments), told, is_value, is_refs)


def _segments(path: str) -> list[Segment]:
    segments: list[Segment] = []
    at = 0
    while at < len(path):
        if len(segments) == BOUNDS.segments:
            raise too_much("the path: segments", BOUNDS.segments)
        name = _NAME.match(path, at)
        if name is None:
            raise wrong("the path", f"a name is missing before {path[at : at + 40]!r}")
        at = name.end()
        id_ = _ID.match(path, at)
        if id_ is not None:
            at = id_.end()
        segments.append(Segment(name[0], _id_of(id_)))
        if at < len(path):
            if path[at] != "/":
                raise wrong("the path", f"a slash is missing before {path[at : at + 40]!r}")
            at += 1
    if not segments or path.endswith("/"):
        raise wrong("the path", "the name of a set is missing")
    return segments


def _id_of(match: "re.Match[str] | None") -> str | None:
    if match is None:
        return None
    return match[2] if match[1] is None else match[1].replace("''", "'")
