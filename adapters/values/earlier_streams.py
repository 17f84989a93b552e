"""`EarlierStreams`: streams of which only the store of an earlier life of the gateway tells.

Place on the way: in the Memory of the registry, filled by the gateway at start. A last will names
a device; with wildcards that its topic does not fill, only what was heard tells which streams are
the device's, and after a restart nothing was heard yet. Read backwards, the IRI templates of a
mapping tell them: `urn:{1}:{2}` with {1} known is `urn:greenhouse:` and one piece.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from adapters.values.iri_template import NAME, IriTemplate, percent_encoded
from adapters.values.observation import StreamKey
from adapters.values.stream import Stream, StreamTemplate

MAX_STREAMS = 50_000

_LATER = re.compile(r"(\{name\}|\{\$[^{}]*\})")
"""What a message fills in, and no topic."""

_PIECE = "[^]\\n/:?#[@!$&'()*+,;=]+"
"""What is filled in has none of these unencoded."""


class EarlierStreams:
    """Streams that the store has something of; MAX_STREAMS at most."""

    __slots__ = ("_keys",)

    def __init__(self) -> None:
        self._keys: dict[StreamKey, None] = {}

    def recall(self, key: StreamKey) -> None:
        """Remember a stream of which the store has something."""
        if len(self._keys) < MAX_STREAMS:
            self._keys[key] = None

    def of(self, template: StreamTemplate, captures: Sequence[str]) -> Iterator[Stream]:
        """Known streams that `template` makes where its first wildcards matched `captures`.

        Linear in all that are known: for topics that are seen for the first time.
        """
        expression = re.compile(stream_expression(template, captures))
        for sensor, observed_property, feature in self._keys:
            if observed_property != template.observed_property:
                continue
            if expression.fullmatch(f"{sensor}\n{feature}"):
                rest = [""] * template.wildcards
                stream = template.bind([*captures, *rest])
                yield replace(stream, sensor=sensor, feature_of_interest=feature)


def stream_expression(template: StreamTemplate, captures: Sequence[str] = ()) -> str:
    """A pattern for sensor and feature, a line each; a wildcard is the same piece in both.

    The first wildcards are the `captures`.
    """
    known = {f"w{index}": percent_encoded(each) for index, each in enumerate(captures)}
    return "\n".join(_line(each, known) for each in (template.sensor, template.feature_of_interest))


def _line(template: IriTemplate, known: dict[str, str]) -> str:
    """`known` has the pieces by group; a group that was written already is referred to."""
    text = _constant(template.constants[0], known)
    for index, constant in zip(template.indices, template.constants[1:], strict=True):
        text += _group(f"w{index}", known) + _constant(constant, known)
    return text


def _constant(constant: str, known: dict[str, str]) -> str:
    return "".join(
        _group(_name(each), known) if at % 2 else re.escape(each)
        for at, each in enumerate(_LATER.split(constant))
    )


def _name(place: str) -> str:
    """What a group may be called: paths are not names."""
    return "name" if place == NAME else f"m{place.encode().hex()}"


def _group(name: str, known: dict[str, str]) -> str:
    if name in known:
        return re.escape(known[name]) if known[name] else f"(?P={name})"
    known[name] = ""
    return f"(?P<{name}>{_PIECE})"
