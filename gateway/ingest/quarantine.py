"""Quarantine: messages that gave less than they should have, whole, with the reasons.

Place on the way of the data: beside ingest. A person looks at them, corrects a mapping or a
capability, and has them replayed or discarded (docs/quarantine.md). They are in memory and, as
JSON Lines, in a file: a later line with an id replaces an earlier one, `gone` takes entries out.
Both are bounded, the oldest entries go first. After kill -9 a torn last line is passed over; a disk
that does not take the file costs the file alone, which is written anew when there is room.
"""

import json
import logging
import threading
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any

from adapters.adapter import Fault, FaultReason
from adapters.values.message import Message
from adapters.values.observation import Observation
from gateway.ingest.line_file import LineFile

log = logging.getLogger(__name__)

_IDS = 10**18
"""Ids are below it; they begin with the time in ms."""

WINDOW = timedelta(minutes=10)
"""So long a message may be on its way a second time; as in gateway.ingest.duplicates."""

_SHARE = 8
"""A topic with more than this part of the room loses its own oldest entry for a new one."""


@dataclass(frozen=True, slots=True)
class QuarantineLimits:
    """So many messages, so many bytes as lines of the file; of a longer payload the beginning."""

    messages: int = 10_000
    total_bytes: int = 4_194_304
    payload_bytes: int = 65_536


@dataclass(frozen=True, slots=True)
class Entry:
    """A message in quarantine; `id` is its own for ever, later ones have greater numbers.

    `accepted` names the observations that it gave nevertheless, see `trace_of`. Of a payload that
    was too long for the limits, `payload_bytes` long, `message` has the beginning alone.
    """

    id: str
    message: Message
    faults: tuple[Fault, ...]
    accepted: frozenset[str] = frozenset()
    payload_bytes: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether it can be replayed."""
        return len(self.message.payload) == self.payload_bytes


def trace_of(seen: Observation, *, timeless: bool = False) -> str:
    """Names an observation among those of its message, whatever its result."""
    time = seen.phenomenon_time
    told = "" if time is None or timeless else time.isoformat()
    return blake2b("\n".join([*seen.stream, told]).encode(), digest_size=8).hexdigest()


def was_accepted(seen: Observation, accepted: frozenset[str]) -> bool:
    """Whether it is among those that its message gave before, then perhaps without its time."""
    return trace_of(seen) in accepted or trace_of(seen, timeless=True) in accepted


class Quarantine:
    """The entries of one gateway, in `quarantine.jsonl` of a folder; None: in memory only.

    May be used from any thread. `reasons` counts faults since the start; `alarm` says why the file
    is behind, "" is all right.

    >>> quarantine = Quarantine(None)
    >>> message = Message("lab/t", b"?", datetime(2026, 1, 1, tzinfo=UTC))
    >>> quarantine.add(message, [Fault(None, FaultReason.MALFORMED, "")])
    >>> [entry.id for entry in quarantine]
    ['1767225600000']
    """

    def __init__(self, folder: Path | None, limits: QuarantineLimits | None = None) -> None:
        self.reasons: Counter[str] = Counter()
        self.alarm = ""
        self._limits = limits or QuarantineLimits()
        self._lock = threading.RLock()
        self._entries: dict[str, tuple[Entry, int]] = {}
        self._topics: dict[str, dict[str, int]] = {}
        self._topic_bytes: Counter[str] = Counter()
        self._bytes = 0
        self._last = 0
        self._file = None if folder is None else LineFile(folder / "quarantine.jsonl")
        if self._file is not None:
            self._load(self._file)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        """The entries of now, the oldest first."""
        with self._lock:
            return iter([entry for entry, _ in self._entries.values()])

    @property
    def size_bytes(self) -> int:
        """How long their lines are."""
        return self._bytes

    def get(self, id_: str) -> Entry | None:
        """The entry, if it is there."""
        found = self._entries.get(id_)
        return None if found is None else found[0]

    def add(
        self,
        message: Message,
        faults: Sequence[Fault],
        accepted: Iterable[Observation] = (),
        payload_bytes: int = 0,
    ) -> None:
        """Keep a message with what is wrong with it, and what was right.

        One that MQTT delivers again (DUP), as after a crash, is not kept twice. `payload_bytes` is
        the length of the payload where the message has not all of it.
        """
        self.reasons.update(fault.reason.value for fault in faults)
        cut = message.payload[: self._limits.payload_bytes]
        kept = message if len(cut) == len(message.payload) else replace(message, payload=cut)
        with self._lock:
            if message.duplicate and self._has(kept):
                return
            self._last = max(self._last + 1, int(message.received_at.timestamp() * 1000))
            self._put(
                Entry(
                    str(self._last),
                    kept,
                    tuple(faults),
                    frozenset(map(trace_of, accepted)),
                    payload_bytes or len(message.payload),
                )
            )

    def _has(self, message: Message) -> bool:
        """Linear in the entries of its topic."""
        own = (self._entries[id_][0].message for id_ in self._topics.get(message.topic, ()))
        return any(
            each.packet_id == message.packet_id
            and each.client_id == message.client_id
            and each.payload == message.payload
            and message.received_at - each.received_at <= WINDOW
            for each in own
        )

    def judge_again(
        self, id_: str, faults: Sequence[Fault], accepted: Iterable[Observation] = ()
    ) -> None:
        """Have other faults for an entry; without any, and where it is gone, it is gone."""
        with self._lock:
            entry = self.get(id_)
            if entry is None:
                return
            if not faults:
                self.discard([id_])
                return
            now_accepted = entry.accepted | set(map(trace_of, accepted))
            self._put(replace(entry, faults=tuple(faults), accepted=now_accepted))

    def discard(self, ids: Iterable[str]) -> int:
        """Forget entries; how many there were."""
        with self._lock:
            gone = [id_ for id_ in ids if self._remove(id_)]
            if gone:
                self._write(_line({"gone": gone}))
            return len(gone)

    def _put(self, entry: Entry) -> None:
        line = _line(_members(entry))
        self._hold(entry, len(line))
        self._write(line)

    def _hold(self, entry: Entry, size: int) -> None:
        topic = entry.message.topic
        known = self._entries.get(entry.id)
        more = size - (0 if known is None else known[1])
        self._bytes += more
        self._topic_bytes[topic] += more
        self._entries[entry.id] = entry, size
        self._topics.setdefault(topic, {})[entry.id] = size
        while len(self._entries) > self._limits.messages or self._bytes > self._limits.total_bytes:
            self._remove(self._next_to_go(topic))

    def _next_to_go(self, topic: str) -> str:
        """Who floods the quarantine does so at its own cost."""
        own = self._topics.get(topic, {})
        takes_much = (
            self._topic_bytes[topic] * _SHARE > self._limits.total_bytes
            or len(own) * _SHARE > self._limits.messages
        )
        return next(iter(own if own and takes_much else self._entries))

    def _remove(self, id_: str) -> bool:
        found = self._entries.pop(id_, None)
        if found is None:
            return False
        entry, size = found
        topic = entry.message.topic
        self._bytes -= size
        self._topic_bytes[topic] -= size
        del self._topics[topic][id_]
        if not self._topics[topic]:
            del self._topics[topic], self._topic_bytes[topic]
        return True

    def _write(self, line: bytes) -> None:
        """Into the file; all of it anew where it has become too long or has been behind."""
        if self._file is None:
            return
        try:
            if self._file.is_behind or self._file.size + len(line) > 2 * self._limits.total_bytes:
                self._file.rewrite(self._lines())
            else:
                self._file.append(line)
        except OSError as error:
            if not self.alarm:
                log.error("quarantine_not_written", extra={"reason": str(error)})
            self.alarm = str(error)
        else:
            self.alarm = self.alarm if self._file.is_behind else ""

    def _lines(self) -> Iterator[bytes]:
        yield _line({"last": self._last})
        for entry, _ in self._entries.values():
            yield _line(_members(entry))

    def _load(self, file: LineFile) -> None:
        passed_over = 0
        for line in file.lines():
            try:
                self._recall(json.loads(line), len(line))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                file.is_behind = True
                passed_over += 1
        if passed_over:
            log.warning("quarantine_lines_passed_over", extra={"lines": passed_over})

    def _recall(self, members: dict[str, Any], size: int) -> None:
        if "last" in members:
            self._last = max(self._last, _number(members["last"]))
        elif "gone" in members:
            for id_ in members["gone"]:
                self._last = max(self._last, _number(id_))
                self._remove(id_)
        else:
            entry = _entry(members)
            self._last = max(self._last, int(entry.id))
            self._hold(entry, size)


def _line(members: dict[str, object]) -> bytes:
    return json.dumps(members).encode() + b"\n"


def _members(entry: Entry) -> dict[str, object]:
    message = entry.message
    return {
        "id": entry.id,
        "received_at": message.received_at.isoformat(),
        "topic": message.topic,
        "faults": [
            {"reason": each.reason.value, "detail": each.detail, "mapping": each.mapping}
            for each in entry.faults
        ],
        "payload_bytes": entry.payload_bytes,
        "payload_base64": b64encode(message.payload).decode(),
        "client_id": message.client_id,
        "packet_id": message.packet_id,
        "duplicate": message.duplicate,
        "retained": message.retained,
        "qos": message.qos,
        "accepted": sorted(entry.accepted),
    }


def _entry(members: dict[str, Any]) -> Entry:
    """The reverse. Raises ValueError, KeyError, TypeError, AttributeError for what is none."""
    message = Message(
        str(members["topic"]),
        b64decode(members["payload_base64"], validate=True),
        datetime.fromisoformat(members["received_at"]).astimezone(UTC),
        str(members["client_id"]),
        int(members["packet_id"]),
        bool(members["duplicate"]),
        bool(members["retained"]),
        int(members["qos"]),
    )
    faults = tuple(
        Fault(each["mapping"], FaultReason(each["reason"]), str(each["detail"]))
        for each in members["faults"]
    )
    id_ = str(_number(members["id"]))
    return Entry(
        id_, message, faults, frozenset(members["accepted"]), int(members["payload_bytes"])
    )


def _number(id_: object) -> int:
    number = int(str(id_))
    if not 0 <= number < _IDS:
        raise ValueError(f"no id: {str(id_)[:40]}")
    return number
