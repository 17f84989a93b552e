"""`Registry`: all mappings, compiled; from a Message to its observations.

Place on the way: after gates/mqtt, before ingest. A topic is matched against the filters once
and then remembered with its adapters and filled-in IRIs, in a cache of bounded size; decoding
takes microseconds. A Registry never changes: new mappings make a new one. What stateful families
remember of earlier messages is in the Memory, which the new one is given too; a Registry and its
Memory are used by one thread at a time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from adapters.adapter import (
    Adapter,
    Decoded,
    Fault,
    FaultReason,
    Findings,
    Format,
    Hear,
    stateless,
)
from adapters.availabilities import Availabilities, AvailabilitiesAdapter, Heard, bare
from adapters.availability import AvailabilityAdapter
from adapters.families import FORMATS
from adapters.policies import Policies
from adapters.values.earlier_streams import EarlierStreams
from adapters.values.mapping import Mapping, MappingError
from adapters.values.memory import Memory
from adapters.values.message import Message
from adapters.values.numbers.quantity import SIGNS
from adapters.values.payload import MAX_PAYLOAD_BYTES, Payload
from adapters.values.series import SeriesUnits
from adapters.values.stream import Stream, StreamTemplate
from adapters.values.topic_filter import TopicFilter, TopicTrie

CACHED_TOPICS = 4096
MAX_CACHED_TOPIC_CHARS = 512

UNMATCHED = Decoded()


@dataclass(frozen=True, slots=True)
class _Checked:
    """A mapping that compiles, and its parts."""

    mapping: Mapping
    topic_filter: TopicFilter
    template: StreamTemplate


@dataclass(frozen=True, slots=True)
class _Entry:
    """The mappings of one topic filter and format, in order; `heard` are all filters it listens to.

    `heard` begins with `topic_filter`, behind it come the companions of the format.
    """

    topic_filter: TopicFilter
    heard: tuple[TopicFilter, ...]
    format: Format
    adapter: Adapter
    templates: tuple[StreamTemplate, ...]


class _Bound(NamedTuple):
    """An adapter with its streams on one topic, and how long a payload it reads."""

    adapter: Adapter
    streams: tuple[Stream, ...]
    max_bytes: int


@dataclass(frozen=True, slots=True)
class _Topic:
    """What is known of a concrete topic: who reads it for which streams, and their policies.

    `hearing` are the families that publish about themselves there.
    """

    bound: tuple[_Bound, ...]
    policies: Policies
    hearing: tuple[Hear, ...]


class Registry:
    """Decodes messages by their mappings.

    >>> from datetime import UTC, datetime
    >>> mapping = Mapping("urn:m", "lab/+/t", "scalar", "urn:s:{1}", "urn:p", "urn:lab")
    >>> registry, errors = Registry.compile([mapping])
    >>> message = Message("lab/north/t", b"21.50", datetime.now(UTC))
    >>> [(seen.sensor, seen.lexical) for seen in registry.decode(message).observations]
    [('urn:s:north', '21.50')]
    """

    def __init__(self, entries: Iterable[_Entry] = (), memory: Memory | None = None) -> None:
        known = memory or Memory()
        self._memory = known
        self._units, self._earlier = known.of(SeriesUnits), known.of(EarlierStreams)
        self._trie = TopicTrie[_Entry]()
        filters = set()
        for entry in entries:
            for topic_filter in entry.heard:
                self._trie.insert(topic_filter, entry)
                filters.add(topic_filter.text)
        self._filters = frozenset(filters)
        self._remembered = lru_cache(maxsize=CACHED_TOPICS)(self._bind)

    @classmethod
    def compile(
        cls, mappings: Iterable[Mapping], memory: Memory | None = None
    ) -> "tuple[Registry, tuple[MappingError, ...]]":
        """The registry of the good mappings, and an error for each bad one.

        Give the Memory of the registry that this one replaces; without one nothing is remembered.
        """
        kept = Memory() if memory is None else memory
        families: dict[tuple[str, str], list[_Checked]] = {}
        errors = []
        for order, mapping in enumerate(mappings):
            try:
                checked = _check(order, mapping)
            except MappingError as error:
                errors.append(error)
            else:
                families.setdefault((mapping.topic_filter, mapping.format), []).append(checked)
        entries = [_entry(family, kept) for family in families.values()]
        every = (checked for family in families.values() for checked in family)
        told = list(every)
        rules = _rule_entries(told, kept.of(Heard))
        return cls([*entries, *_availability_entries(told), *rules], kept), tuple(errors)

    @property
    def topic_filters(self) -> frozenset[str]:
        """What to subscribe to."""
        return self._filters

    def knows(self, topic: str) -> bool:
        """Whether a mapping reads messages of this topic; in any thread."""
        return bool(self._trie.match(topic))

    def decode(self, message: Message) -> Decoded:
        """What `message` says. Never raises; a topic without a mapping gives UNMATCHED.

        What a family publishes about itself is remembered, mapped or not.
        """
        topic = message.topic
        find = self._remembered if len(topic) <= MAX_CACHED_TOPIC_CHARS else self._bind
        known = find(topic)
        bound = known.bound
        if not bound:
            if known.hearing:
                self._hear(known, Payload(message))
            return UNMATCHED
        size = len(message.payload)
        if size > MAX_PAYLOAD_BYTES:
            most = max(each.max_bytes for each in bound)
            bound = tuple(each for each in bound if size <= each.max_bytes)
            if not bound:
                detail = f"{size} bytes, at most {most} are read"
                return Decoded((), (Fault(None, FaultReason.TOO_LARGE, detail),), True)
        payload = Payload(message)
        if known.hearing:
            self._hear(known, payload)
        found = [each.adapter.decode(payload, each.streams) for each in bound]
        all_found = found[0] if len(found) == 1 else _merged(found)
        if len(all_found.faults) > 1:
            all_found.faults = _told_once(payload, all_found.faults)
        known.policies.apply(all_found, is_retained=message.retained)
        observations = tuple([seen for _, seen in all_found.observations])
        changes = map(self._units.change, observations)
        notices = [*all_found.notices, *(change for change in changes if change)]
        return Decoded(observations, tuple(all_found.faults), True, tuple(dict.fromkeys(notices)))

    def _hear(self, known: _Topic, payload: Payload) -> None:
        if len(payload.raw) <= MAX_PAYLOAD_BYTES:
            for hear in known.hearing:
                hear(payload, self._memory)

    def _bind(self, topic: str) -> _Topic:
        entries = {id(entry): entry for entry in self._trie.match(topic)}
        bound = tuple(
            _Bound(entry.adapter, self._streams(entry, topic), entry.format.max_bytes)
            for entry in entries.values()
        )
        every = (stream for each in bound for stream in each.streams)
        theirs = {entry.format.hear for entry in entries.values()}  # they take it up by themselves
        hearing = tuple(each for each in _ANNOUNCED.match(topic) if each not in theirs)
        return _Topic(bound, Policies.of(every), hearing)

    def _streams(self, entry: _Entry, topic: str) -> tuple[Stream, ...]:
        """Where the topic, that of a companion, fills no wildcards: those that the store knew."""
        levels = entry.format.subject(topic).split("/")
        if len(levels) >= entry.topic_filter.levels_to_fill:
            captures = entry.topic_filter.captures(levels)
            return tuple(template.bind(captures) for template in entry.templates)
        told = _device_captures(entry.topic_filter, levels)
        if told is None:
            return ()
        return tuple(s for each in entry.templates for s in self._earlier.of(each, told))


def _device_captures(topic_filter: TopicFilter, levels: Sequence[str]) -> Sequence[str] | None:
    """What the wildcards before the last of `levels` stand for; None where it is another device's.

    The topic of a last will is that of its device with one word behind it.
    """
    device = levels[:-1]
    pairs = list(zip(topic_filter.levels, device, strict=False))
    if any(level not in {"+", told} for level, told in pairs):
        return None
    return [told for level, told in pairs if level == "+"]


def _merged(found: Sequence[Findings]) -> Findings:
    """Findings of several adapters as those of one: in the order of mappings, one fault once."""
    observations = [each for findings in found for each in findings.observations]
    observations.sort(key=lambda each: each[0])
    faults = list(dict.fromkeys(fault for findings in found for fault in findings.faults))
    notices = list(dict.fromkeys(notice for findings in found for notice in findings.notices))
    gone = [fault for fault in faults if fault.reason is FaultReason.MISSING]
    if gone and (observations or notices or len(gone) < len(faults)):
        faults = [fault for fault in faults if fault.reason is not FaultReason.MISSING]
    elif len(gone) > 1:
        faults = [Fault(None, FaultReason.MISSING, gone[0].detail)]
    return Findings(observations, faults, notices)


def _told_once(payload: Payload, faults: Sequence[Fault]) -> list[Fault]:
    """Bytes that are no text or no JSON are one fault, however many mappings read them."""
    whole = payload.document()
    if not isinstance(whole, Fault):
        return list(faults)
    same = (whole.reason, whole.detail)
    others = [each for each in faults if (each.reason, each.detail) != same]
    return others if len(others) == len(faults) else [whole, *others]


def _check(order: int, mapping: Mapping) -> _Checked:
    """`mapping` compiled by itself, so that its errors are its own; raises MappingError."""
    format_ = FORMATS.get(mapping.format)
    if format_ is None:
        raise MappingError(mapping.iri, "format", f"is none of {', '.join(FORMATS)}")
    try:
        topic_filter = TopicFilter.parse(mapping.topic_filter)
    except ValueError as error:
        raise MappingError(mapping.iri, "topic_filter", str(error)) from error
    _refuse_availability(mapping, topic_filter.wildcards)
    _refuse_reading(mapping, format_)
    format_.compile([mapping], Memory())
    template = StreamTemplate.compile(
        order, mapping, topic_filter.wildcards, format_.names, members=format_.members
    )
    return _Checked(mapping, topic_filter, template)


def _refuse_reading(mapping: Mapping, format_: Format) -> None:
    if mapping.condition and not format_.members:
        reason = "is a condition on a document, and payloads of this format are none"
        raise MappingError(mapping.iri, "condition", reason)
    if mapping.decimal_sign and not format_.written:
        reason = "is that of texts, and numbers of this format are none"
        raise MappingError(mapping.iri, "decimal_sign", reason)
    if mapping.decimal_sign and mapping.decimal_sign not in SIGNS:
        raise MappingError(mapping.iri, "decimal_sign", "is a comma or a point")


def _refuse_availability(mapping: Mapping, wildcards: int) -> None:
    has_places = "{" in mapping.sensor + mapping.feature_of_interest
    if mapping.availabilities:
        _refuse_rule(mapping, has_places=has_places)
    if not mapping.availability_topic:
        return
    try:
        given = TopicFilter.parse(mapping.availability_topic).wildcards
    except ValueError as error:
        raise MappingError(mapping.iri, "availability_topic", str(error)) from error
    if "{$" in mapping.sensor + mapping.feature_of_interest:
        reason = "is of one device, and the messages tell whose they are"
        raise MappingError(mapping.iri, "availability_topic", reason)
    if given != wildcards and (given or has_places):
        reason = f"has {given} wildcards, the topic filter {wildcards}"
        raise MappingError(mapping.iri, "availability_topic", reason)


def _refuse_rule(mapping: Mapping, *, has_places: bool) -> None:
    try:
        rule = Availabilities.of(mapping.availabilities)
        for each in rule.topics:
            if each.template:
                FORMATS[mapping.format].select(each.template)
    except ValueError as error:
        raise MappingError(mapping.iri, "availabilities", str(error)) from error
    if has_places:
        reason = "are of one device, and the mapping is of several"
        raise MappingError(mapping.iri, "availabilities", reason)


def _rule_entries(every: Iterable[_Checked], heard: Heard) -> Iterator[_Entry]:
    """One entry for each topic of each rule; the mappings of a device share one."""
    told: dict[tuple[str, str], list[StreamTemplate]] = {}
    for checked in every:
        if checked.mapping.availabilities:
            key = (checked.mapping.availabilities, checked.mapping.format)
            told.setdefault(key, []).append(checked.template)
    for (text, name), templates in told.items():
        rule = Availabilities.of(text)
        for place, each in enumerate(rule.topics):
            select = FORMATS[name].select(each.template) if each.template else bare
            adapter = AvailabilitiesAdapter(rule, place, select, heard)
            topic = TopicFilter.parse(each.topic)
            yield _Entry(topic, (topic,), _AVAILABILITY, adapter, tuple(templates))


def _availability_entries(every: Iterable[_Checked]) -> Iterator[_Entry]:
    told: dict[str, list[StreamTemplate]] = {}
    for checked in every:
        if checked.mapping.availability_topic:
            told.setdefault(checked.mapping.availability_topic, []).append(checked.template)
    for text, templates in told.items():
        topic_filter = TopicFilter.parse(text)
        yield _Entry(topic_filter, (topic_filter,), _AVAILABILITY, _HEARD, tuple(templates))


def _announced() -> TopicTrie[Hear]:
    trie = TopicTrie[Hear]()
    for form in FORMATS.values():
        if form.hear is not None:
            for text in form.announcements:
                trie.insert(TopicFilter.parse(text), form.hear)
    return trie


_ANNOUNCED = _announced()
_HEARD = AvailabilityAdapter()
_AVAILABILITY = Format(stateless(lambda mappings: _HEARD))  # noqa: ARG005


def _entry(family: Sequence[_Checked], memory: Memory) -> _Entry:
    format_, topic_filter = FORMATS[family[0].mapping.format], family[0].topic_filter
    companions = map(TopicFilter.parse, format_.companions(topic_filter.text))
    return _Entry(
        topic_filter,
        (topic_filter, *companions),
        format_,
        format_.compile([checked.mapping for checked in family], memory),
        tuple(checked.template for checked in family),
    )
