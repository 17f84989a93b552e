"""What keeps values away before they are in the store: mappings, quarantine, alarms.

Place: asked by `quiet` for the properties and sensors of a query; told as far as the asker may
know: mappings to who may read their graph or change them, the rest for the operators.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from pyoxigraph import NamedNode

from adapters.values.mapping import Mapping
from adapters.values.topic_filter import TopicFilter, TopicTrie
from gateway.admin.alarm_watch import Alarm
from gateway.admin.looking.near import Link, Near
from gateway.admin.looking.near_streams import Wanted
from gateway.ingest.quarantine import Quarantine
from gateway.rdf.namespaces import MAPPINGS_GRAPH
from gateway.runtime.alarms import AlarmKind
from gateway.security.policy import Capability, Policy

_MOST = 5
_LONGEST = 200

_OF_MAPPINGS = {AlarmKind.BROKEN_MAPPING, AlarmKind.INVERTED_MAPPING, AlarmKind.UNKNOWN_UNIT}


@dataclass(frozen=True, slots=True)
class Before:
    """What there is before the store now; `policy` is that of who asks."""

    mappings: Sequence[Mapping]
    quarantine: Quarantine
    alarms: Sequence[Alarm]
    policy: Policy

    def near(self, wanted: Wanted, missing: Sequence[NamedNode]) -> Iterator[Near]:
        """What concerns a query; `missing` are those of its properties that nothing observes."""
        giving = [each for each in self.mappings if _gives(each, wanted)]
        has = self.policy.capabilities
        if Capability.OPERATIONS in has:
            known = {each.iri for each in self.mappings}
            yield from _broken(self.alarms, {each.iri for each in giving}, known)
            yield from self._quarantined(giving)
        if Capability.MAPPINGS in has or self.policy.query_rights.may_read(MAPPINGS_GRAPH):
            yield from _unheard(giving, missing)

    def _quarantined(self, giving: Sequence[Mapping]) -> Iterator[Near]:
        """The last messages of a topic that one of these mappings could not read."""
        names, topics = {each.iri for each in giving}, _topics(giving)
        told: set[str] = set()
        for entry in reversed(list(self.quarantine)):
            topic = entry.message.topic
            if topic in told or not self.policy.may_receive(topic):
                continue
            fault = next((each for each in entry.faults if each.mapping in names), None)
            if fault is None and topics.match(topic):
                fault = next((each for each in entry.faults if each.mapping is None), None)
            if fault is None:
                continue
            told.add(topic)
            yield Near(
                topic,
                f"its message is in quarantine: {fault.reason.value}, {fault.detail[:_LONGEST]}",
                "correct its mapping or the device, then replay the message",
                since=_stamp(entry.message.received_at),
                link=Link("quarantine", entry.id),
            )
            if len(told) >= _MOST:
                return


def _topics(mappings: Iterable[Mapping]) -> TopicTrie[None]:
    """Their filters; one that is none has an alarm."""
    trie = TopicTrie[None]()
    for each in mappings:
        with suppress(ValueError):
            trie.insert(TopicFilter.parse(each.topic_filter), None)
    return trie


def _gives(mapping: Mapping, wanted: Wanted) -> bool:
    names = {each.value for each in wanted.properties}
    if names:
        return mapping.observed_property in names
    sensors = {each.value for each in wanted.sensors}
    return not sensors or mapping.sensor in sensors or "{" in mapping.sensor


def _broken(alarms: Iterable[Alarm], giving: set[str], known: set[str]) -> Iterator[Near]:
    """Alarms of these mappings, and of those that are so broken that nobody knows what of."""
    count = 0
    for alarm in alarms:
        said = alarm.condition
        if said.kind in _OF_MAPPINGS and (said.where in giving or said.where not in known):
            count += 1
            link, since = Link("mapping", said.where), _stamp(alarm.since)
            yield Near(said.where, said.what, said.what_to_do, since=since, link=link)
            if count >= _MOST:
                return


def _unheard(giving: Iterable[Mapping], missing: Sequence[NamedNode]) -> Iterator[Near]:
    """Mappings that would give what nothing observes, and properties that none gives."""
    names = {each.value for each in missing}
    given = [each for each in giving if each.observed_property in names]
    for mapping in given[:_MOST]:
        yield Near(
            mapping.iri,
            f"it gives {mapping.observed_property} by {mapping.topic_filter}, where nothing that it"
            " could read has come yet",
            "look whether the device publishes, and where: GET /messages has the last ones",
            link=Link("mapping", mapping.iri),
        )
    for name in sorted(names - {each.observed_property for each in given}):
        yield Near(
            name,
            "no mapping gives it",
            "map a topic that gives it, or accept a proposed device",
            link=Link("property", name),
        )


def _stamp(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds")
