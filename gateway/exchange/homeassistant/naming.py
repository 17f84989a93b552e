"""How things are called in Home Assistant: by their labels, or by the end of their IRIs."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

LONGEST_NAME = 100

_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")
_BETWEEN = re.compile(r"[/#:]")


def local_name(iri: str) -> str:
    """What stands behind the last separator.

    >>> local_name("urn:my:sensor:oven"), local_name("http://x/a%20b/")
    ('oven', 'a b')
    """
    pieces = [piece for piece in _BETWEEN.split(iri) if piece]
    return clean(unquote(pieces[-1])) if pieces else clean(iri)


def clean(text: str) -> str:
    """One line, not too long."""
    return _CONTROLS.sub(" ", text).strip()[:LONGEST_NAME]


def name_of(iri: str, labels: Mapping[str, str]) -> str:
    """By the label that the graph has."""
    return clean(labels.get(iri, "")) or local_name(iri) or "unnamed"


def without(device: str, label: str) -> str:
    """What a label says beside the name of the device.

    >>> without("Climate bedroom", "Climate bedroom battery"), without("a", "abc")
    ('battery', 'abc')
    """
    rest = label[len(device) :]
    is_repeated = label.lower().startswith(device.lower()) and not rest[:1].isalnum()
    return rest.strip(" -_:") if is_repeated else label


def distinct(names: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Names by id, from (id, name, what tells it from another of that name) of one device.

    >>> distinct([("1", "power", "left"), ("2", "power", "right"), ("3", "energy", "left")])
    {'1': 'power left', '2': 'power right', '3': 'energy'}
    """
    given = list(names)
    count: dict[str, int] = {}
    for _, name, _ in given:
        count[name.lower()] = count.get(name.lower(), 0) + 1
    return {
        id_: name if count[name.lower()] == 1 else clean(f"{name} {other}")
        for id_, name, other in given
    }
