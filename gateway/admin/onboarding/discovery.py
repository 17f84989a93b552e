"""`DiscoveryWorker`: looks at announcements and unknown messages, and never holds ingest up.

Place on the way of the data: ingest tells of each message that no mapping knows, and of all on the
announcement topics; a thread of its own asks the families what they are. Its queue has a bound in
number and bytes: what finds no room is counted, and passed over. Announcements are mostly retained,
so they come again; what was announced in the last moment before a kill -9 may not.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from adapters.discovery import MAX_ANNOUNCEMENT_BYTES, Discovered, Discovery
from adapters.families import FORMATS
from adapters.recipes.book import SHARED_FILTERS
from adapters.values.memory import Recent
from adapters.values.message import Message
from adapters.values.proposal import Names, Proposal
from adapters.values.topic_filter import TopicFilter, TopicTrie
from gateway.admin.onboarding.announcements import Announcement, ProposalUpdate
from gateway.admin.onboarding.unknown import UnknownTopics
from gateway.runtime.text_cache import remembered

log = logging.getLogger(__name__)

MOST_LOOKED = 10_000
"""Mapped topics that are looked at for members that no mapping reads."""

MOST_WAITING = 10_000
MOST_WAITING_BYTES = 32 * 1024 * 1024

_MOST_PUZZLING, _PUZZLING_BYTES = 64, 65_536
"""Announcements that proposed nothing, kept until another one of their family may explain them."""

GENERIC = frozenset({"json", "msgpack", "cbor", "csv", "bytes", "hex", "scalar", "text"})
"""Formats that any message may happen to have: what they suggest is a guess about an unknown topic,
while what a family recognises as its own is a proposal."""

Propose = Callable[[Announcement], ProposalUpdate | None]
"""Takes an announcement up; None where it could not be."""

Others = Callable[[str, Sequence[Proposal]], Sequence[Proposal]]
"""What is guessed about a topic, but for what a mapping reads already."""


@dataclass(slots=True)
class DiscoveryStatistics:
    """Counters since the start."""

    announcements: int = 0
    passed_over: int = 0
    proposed: int = 0
    withdrawn: int = 0
    accepted: int = 0
    refused: int = 0


def announcement_filters(families: frozenset[str]) -> frozenset[str]:
    """The topic filters of what these families publish about themselves."""
    return frozenset(text for name in families for text in FORMATS[name].announcements)


def is_among(filters: Iterable[str]) -> Callable[[str], bool]:
    """Whether a topic matches one of the filters; remembered for the topics asked last.

    >>> is_among(["+/bridge/devices"])("zigbee2mqtt/bridge/devices")
    True
    """
    trie = TopicTrie[None]()
    for text in filters:
        trie.insert(TopicFilter.parse(text), None)
    return remembered()(lambda topic: bool(trie.match(topic)))


class _Heard(NamedTuple):
    """A message to look at."""

    message: Message
    announced: bool
    mapped: bool = False


class DiscoveryWorker:
    """`observe` is called in any thread, `run` is the body of one, `stop` ends it.

    `families` are those whose announcements are taken; `auto` are the formats that are accepted
    without a person.
    """

    def __init__(
        self,
        propose: Propose,
        unknown: UnknownTopics,
        others: Others,
        names: Names,
        *,
        families: frozenset[str],
        auto: frozenset[str] = frozenset(),
    ) -> None:
        self.statistics = DiscoveryStatistics()
        self._propose = propose
        self._unknown = unknown
        self._others = others
        self._auto = auto
        # A family that announces itself and is not wanted is not asked about its messages either.
        shy = {n: f for n, f in FORMATS.items() if n in families or not f.announcements}
        self._discovery = Discovery(names, shy)
        self._is_announced = is_among(announcement_filters(families))
        self._is_shared = is_among(SHARED_FILTERS)
        self._told = Recent[str, bool](MOST_LOOKED)
        self._looked: set[str] = set()
        self._puzzling = Recent[str, Message](_MOST_PUZZLING)
        self._waiting: deque[_Heard] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._closing = False

    def observe(self, message: Message, matched: bool) -> None:
        """Take note of a message; a microsecond, no more, and nothing is ever raised."""
        if self._is_announced(message.topic):
            self._put(_Heard(message, announced=True))
        elif self._is_shared(message.topic):
            self._share(message, matched)
        elif matched:
            self._note(message)
        elif self._unknown.hear(message):
            self._put(_Heard(message, announced=False))

    def _share(self, message: Message, matched: bool) -> None:
        """Each message of a topic that devices share may be of a new one."""
        if not matched:
            self._unknown.hear(message)
        self._put(_Heard(message, announced=False))

    def _note(self, message: Message) -> None:
        """A mapped topic may have members that no mapping reads: it is looked at once.

        Only then is it among the unknown ones, which have no room for all that are known.
        """
        if message.topic not in self._looked and len(self._looked) < MOST_LOOKED:
            self._looked.add(message.topic)
            self._put(_Heard(message, announced=False, mapped=True))

    def run(self) -> None:
        """Serve until `stop`."""
        while self.serve_one():
            pass

    def serve_one(self) -> bool:
        """Wait for a message and look at it; False when it is to stop."""
        heard = self._take()
        if heard is None:
            return False
        try:
            self._look(heard)
        except Exception:  # a defect of a family costs this message, never the thread
            log.exception("discovery_crashed", extra={"topic": heard.message.topic[:200]})
        return True

    @property
    def waiting(self) -> int:
        """How many messages are to be looked at."""
        return len(self._waiting)

    def stop(self) -> None:
        """Have `run` return; what waits is dropped."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()

    def pause(self, seconds: float) -> bool:
        """Wait a little; whether `stop` was called meanwhile."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closing, seconds)

    def _put(self, heard: _Heard) -> None:
        size = len(heard.message.payload)
        with self._changed:
            is_full = len(self._waiting) >= MOST_WAITING
            too_long = size > MAX_ANNOUNCEMENT_BYTES
            if is_full or too_long or self._bytes + size > MOST_WAITING_BYTES:
                self.statistics.passed_over += 1
                return
            self._waiting.append(heard)
            self._bytes += size
            self._changed.notify_all()

    def _take(self) -> _Heard | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing)
            if self._closing:
                return None
            heard = self._waiting.popleft()
            self._bytes -= len(heard.message.payload)
        return heard

    def _look(self, heard: _Heard) -> None:
        message, announced, mapped = heard
        found = self._discovery.discover(message)
        if announced:
            self._puzzling.pop(message.topic)
            if message.payload and not found.proposals and len(message.payload) <= _PUZZLING_BYTES:
                self._puzzling.put(message.topic, message)
            elif found.proposals:
                self._look_again(found.family)
        if self._is_shared(message.topic):
            found = self._new_ones(found)
        is_guess = found.family in GENERIC and found.family not in self._auto
        if announced or (found.family and not is_guess):
            self._announce(message, found, announced)
        if mapped:
            self._tell_unread(message, found)
        elif not announced:
            self._unknown.guess(message.topic, found.family, found.proposals)

    def _tell_unread(self, message: Message, found: Discovered) -> None:
        """What no mapping reads of a topic that one reads."""
        left = self._others(message.topic, found.proposals)
        if left:
            self._unknown.hear(message)
            self._unknown.guess(message.topic, found.family, left)

    def _new_ones(self, found: Discovered) -> Discovered:
        """Without what was told already: a radio sensor says the same every minute."""
        new = [each for each in found.proposals if self._told.get(each.mapping.iri) is None]
        for each in new:
            self._told.put(each.mapping.iri, True)
        return Discovered(found.family if new else "", tuple(new))

    def _look_again(self, family: str) -> None:
        """Groups are listed before the devices that they have: what was not understood may be."""
        for topic, message in self._puzzling.items():
            if is_among(FORMATS[family].announcements)(topic):
                self._puzzling.pop(topic)
                found = self._discovery.discover(message)
                if found.proposals:
                    self._announce(message, found, announced=True)

    def _announce(self, message: Message, found: Discovered, announced: bool) -> None:
        seen = self.statistics
        seen.announcements += announced
        seen.refused += found.omitted
        says_all = bool(found.proposals) and not found.omitted
        is_whole = announced and (says_all or not message.payload)
        if not announced:  # another message of the topic says other things
            found = Discovered(found.family, found.proposals)
        if not (found.proposals or found.withdrawn or is_whole):
            return
        whole = Announcement(found, message.topic, message.received_at, is_whole)
        for part in whole.parts():
            update = self._propose(part)
            if update is None:
                seen.passed_over += 1
                return
            seen.proposed += update.new
            seen.withdrawn += update.withdrawn
            seen.accepted += update.accepted
            seen.refused += update.refused
