"""`Leaf`: each value of a document, with what stands around it that may say what it is.

Place on the way: proposals for documents that nobody has announced. An element of an array whose
elements name themselves is found by its name, for its place may change; only where one does not, or
two have the same, by its index.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.documents.json_path import PLAIN_MEMBER, member_step
from adapters.values.payload import Json
from adapters.values.result import JsonNumber
from adapters.values.usual_words import plain_word

IDENTITIES = (
    *("deviceid", "devid", "sensorid", "nodeid", "deveui", "eui", "id", "uuid", "uid"),
    *("mac", "macaddress", "serial", "serialnumber", "imei", "address", "addr"),
    *("device", "devicename", "sensor", "sensorname", "node", "station", "name"),
)
"""Words for members that say which device it is, the more certain first."""

KINDS = (
    *("type", "sensortype", "measurement", "quantity", "metric", "property", "parameter"),
    *("kind", "variable", "channelname"),
)
"""Words for members that say what a value beside them is of."""

_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class Place:
    """An object of the document and the path to it."""

    path: str
    members: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that is no object, array or null.

    `path` leads to it, `keys` are the names of the members on the way, the last one its own, and
    `within` the objects that it stands in, the innermost first.
    """

    path: str
    keys: tuple[str, ...]
    value: Json
    within: tuple[Place, ...]


def document_leaves(document: Json) -> Iterator[Leaf]:
    """The values in the order of the document; as deep as a payload may be."""
    yield from _leaves(document, Leaf("$", (), document, ()))


def member_called(place: Place, words: Sequence[str]) -> tuple[str, Json] | None:
    """Key and value of the first of `words` that the object has, however it is spelled."""
    known = {plain_word(key): key for key in reversed(place.members)}
    key = next((known[word] for word in words if word in known), None)
    return None if key is None else (key, place.members[key])


def _leaves(node: Json, at: Leaf) -> Iterator[Leaf]:
    if isinstance(node, dict):
        within = (Place(at.path, node), *at.within)
        for key, value in node.items():
            yield from _leaves(
                value, Leaf(at.path + member_step(key), (*at.keys, key), value, within)
            )
    elif isinstance(node, list):
        for step, value in zip(_steps(node), node, strict=True):
            yield from _leaves(value, Leaf(at.path + step, at.keys, value, at.within))
    elif node is not None:
        yield at


def _steps(elements: Sequence[Json]) -> list[str]:
    """How each element is found: by what it calls itself, or by its place."""
    by_index = [f"[{index}]" for index in range(len(elements))]
    if len(elements) < 2 or not all(isinstance(each, dict) for each in elements):
        return by_index
    places = [Place("", each) for each in elements if isinstance(each, dict)]
    for word in (*IDENTITIES, *KINDS):
        told = [member_called(place, (word,)) for place in places]
        names = [each[1] for each in told if each is not None and _is_name(*each)]
        keys = {each[0] for each in told if each is not None}
        if len(names) == len(set(map(str, names))) == len(places) and len(keys) == 1:
            key = keys.pop()
            return [f"[{key}='{_escaped(str(name))}']" for name in names]
    return by_index


def _is_name(key: str, value: Json) -> bool:
    is_text = isinstance(value, JsonNumber | str) and 0 < len(value) <= _LONGEST_NAME
    return is_text and PLAIN_MEMBER.fullmatch(key) is not None


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "\\'")
