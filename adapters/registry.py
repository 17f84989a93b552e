"""`Registry`: all mappings, compiled; from a Message to its observations.

Place on the way: after gates/mqtt, before ingest. A topic is matched against the filters once
and then remembered with its adapters and filled-in IRIs, in a cache of bounded size; decoding
takes microseconds. A Registry never changes: new mappings make a new one. Safe to use from
several threads.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from adapters.adapter import Adapter, Compile, Decoded, Fault, FaultReason, Findings
from adapters.formats.json_path import JsonAdapter
from adapters.formats.scalar import ScalarAdapter
from adapters.formats.senml import SenmlAdapter
from adapters.formats.text import TextAdapter
from adapters.mapping import Mapping, MappingError
from adapters.message import Message
from adapters.payload import MAX_PAYLOAD_BYTES, Payload
from adapters.stream import Stream, StreamTemplate
from adapters.topic_filter import TopicFilter, TopicTrie

CACHED_TOPICS = 4096
MAX_CACHED_TOPIC_CHARS = 512

FORMATS: dict[str, Compile] = {
    "json": JsonAdapter,
    "scalar": ScalarAdapter,
    "senml": SenmlAdapter,
    "text": TextAdapter,
}
"""Every format by the name that a mapping gives it."""

NAMED_FORMATS = frozenset({"senml"})
"""The formats whose IRI templates have `{name}`."""

UNMATCHED = Decoded()


@dataclass(frozen=True, slots=True)
class _Checked:
    """A mapping that compiles, and its parts."""

    mapping: Mapping
    topic_filter: TopicFilter
    template: StreamTemplate


@dataclass(frozen=True, slots=True)
class _Entry:
    """The mappings of one topic filter and format, in order."""

    topic_filter: TopicFilter
    adapter: Adapter
    templates: tuple[StreamTemplate, ...]


_Bound = tuple[Adapter, tuple[Stream, ...]]


class Registry:
    """Decodes messages by their mappings.

    >>> from datetime import UTC, datetime
    >>> mapping = Mapping("urn:m", "lab/+/t", "scalar", "urn:s:{1}", "urn:p", "urn:lab")
    >>> registry, errors = Registry.compile([mapping])
    >>> message = Message("lab/north/t", b"21.50", datetime.now(UTC))
    >>> [(seen.sensor, seen.lexical) for seen in registry.decode(message).observations]
    [('urn:s:north', '21.50')]
    """

    def __init__(self, entries: Iterable[_Entry] = ()) -> None:
        self._trie = TopicTrie[_Entry]()
        filters = set()
        for entry in entries:
            self._trie.insert(entry.topic_filter, entry)
            filters.add(entry.topic_filter.text)
        self._filters = frozenset(filters)
        self._remembered = lru_cache(maxsize=CACHED_TOPICS)(self._bind)

    @classmethod
    def compile(cls, mappings: Iterable[Mapping]) -> "tuple[Registry, tuple[MappingError, ...]]":
        """The registry of the good mappings, and an error for each bad one."""
        families: dict[tuple[str, str], list[_Checked]] = {}
        errors = []
        for order, mapping in enumerate(mappings):
            try:
                checked = _check(order, mapping)
            except MappingError as error:
                errors.append(error)
            else:
                families.setdefault((mapping.topic_filter, mapping.format), []).append(checked)
        return cls(map(_entry, families.values())), tuple(errors)

    @property
    def topic_filters(self) -> frozenset[str]:
        """What to subscribe to."""
        return self._filters

    def decode(self, message: Message) -> Decoded:
        """What `message` says. Never raises; a topic without a mapping gives UNMATCHED."""
        topic = message.topic
        find = self._remembered if len(topic) <= MAX_CACHED_TOPIC_CHARS else self._bind
        bound = find(topic)
        if not bound:
            return UNMATCHED
        if len(message.payload) > MAX_PAYLOAD_BYTES:
            detail = f"{len(message.payload)} bytes, at most {MAX_PAYLOAD_BYTES} are read"
            return Decoded((), (Fault(None, FaultReason.TOO_LARGE, detail),), True)
        payload, now = Payload(message.payload), message.received_at
        found = [adapter.decode(payload, now, streams) for adapter, streams in bound]
        observations, faults = found[0] if len(found) == 1 else _merged(found)
        return Decoded(tuple([seen for _, seen in observations]), tuple(faults), True)

    def _bind(self, topic: str) -> tuple[_Bound, ...]:
        levels = topic.split("/")
        return tuple((entry.adapter, _streams(entry, levels)) for entry in self._trie.match(topic))


def _streams(entry: _Entry, levels: Sequence[str]) -> tuple[Stream, ...]:
    captures = entry.topic_filter.captures(levels)
    return tuple(template.bind(captures) for template in entry.templates)


def _merged(found: Sequence[Findings]) -> Findings:
    """Findings of several adapters as those of one: in the order of mappings, one fault once."""
    observations = [each for findings in found for each in findings.observations]
    observations.sort(key=lambda each: each[0])
    faults = list(dict.fromkeys(fault for findings in found for fault in findings.faults))
    gone = [fault for fault in faults if fault.reason is FaultReason.MISSING]
    if gone and (observations or len(gone) < len(faults)):
        faults = [fault for fault in faults if fault.reason is not FaultReason.MISSING]
    elif len(gone) > 1:
        faults = [Fault(None, FaultReason.MISSING, gone[0].detail)]
    return Findings(observations, faults)


def _check(order: int, mapping: Mapping) -> _Checked:
    """`mapping` compiled by itself, so that its errors are its own; raises MappingError."""
    compile_format = FORMATS.get(mapping.format)
    if compile_format is None:
        raise MappingError(mapping.iri, "format", f"is none of {', '.join(FORMATS)}")
    try:
        topic_filter = TopicFilter.parse(mapping.topic_filter)
    except ValueError as error:
        raise MappingError(mapping.iri, "topic_filter", str(error)) from error
    compile_format([mapping])
    names = mapping.format in NAMED_FORMATS
    template = StreamTemplate.compile(order, mapping, topic_filter.wildcards, names)
    return _Checked(mapping, topic_filter, template)


def _entry(family: Sequence[_Checked]) -> _Entry:
    compile_format = FORMATS[family[0].mapping.format]
    return _Entry(
        family[0].topic_filter,
        compile_format([checked.mapping for checked in family]),
        tuple(checked.template for checked in family),
    )
