"""What a Sparkplug B host application knows of edge nodes: births, aliases, sequence, deaths.

Place on the way: every message in the namespace passes here once, in the order of arrival, before
the format "sparkplug" looks for the metrics of its mappings. The state outlives a change of the
mappings (adapters.values.memory).

The rules, of Eclipse Sparkplug 3.0, sections 5 (operational behaviour) and 6.4:
- an alias means what the last birth of its node or device said, and nothing after a death;
- `seq` counts 0..255 over the messages of a node and its devices; a gap means that something was
  not heard, so the births are asked for again. What came in spite of the gap is still believed,
  for the connection stood; after it was lost (`doubt`) no alias is;
- an NDEATH does not count if its bdSeq is that of an earlier NBIRTH: a will may come late. A later
  one counts, for there are clients that say goodbye with the bdSeq of their next connection.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Lookup
from dataclasses import dataclass, field
from typing import NamedTuple

from adapters.sparkplug.payload import REBIRTH, Metric, Number, SparkplugPayload, decode_payload
from adapters.values.fault import Fault, FaultReason, excerpt
from adapters.values.memory import Recent
from adapters.values.observation import StreamKey
from adapters.values.payload import Payload

NAMESPACE = "spBv1.0"
BD_SEQ = "bdSeq"
UNIT_KEYS = ("engUnit", "engineeringUnit", "unit")
"""Properties that name a unit; the specification has none, the first is that of most gateways."""

MAX_NODES = 4096
MAX_METRICS = 20_000
"""The most metrics of a node with its devices; beyond it the node's state begins anew."""

_LATE = 8
"""A message so many numbers behind was overtaken; one farther away comes after a gap."""

_TYPES = frozenset({"NBIRTH", "NDEATH", "NDATA", "NCMD", "DBIRTH", "DDEATH", "DDATA", "DCMD"})


class Address(NamedTuple):
    """Who sent a message of which kind (BIRTH, DEATH, DATA, CMD); `device` is empty for the node.

    >>> Address.of("spBv1.0/plant1/DDATA/edge7/press3")
    Address(group='plant1', node='edge7', device='press3', kind='DATA')
    """

    group: str
    node: str
    device: str
    kind: str

    @classmethod
    def of(cls, topic: str) -> "Address | None":
        """None for a topic that is no edge node's or device's."""
        namespace, *levels = topic.split("/")
        if namespace != NAMESPACE or len(levels) not in {3, 4} or levels[1] not in _TYPES:
            return None
        group, kind, node = levels[:3]
        device = levels[3] if len(levels) == 4 else ""
        if (kind[0] == "D") != bool(device) or not group or not node:
            return None
        return cls(group, node, device, kind[1:])

    @property
    def command_topic(self) -> str:
        """Where a host asks the node for its births."""
        return f"{NAMESPACE}/{self.group}/NCMD/{self.node}"


@dataclass(frozen=True, slots=True)
class Declared:
    """What a birth says of a metric; `unit` is its symbol, `before` that of an earlier birth."""

    device: str
    name: str
    datatype: int
    unit: str
    before: str = ""

    @classmethod
    def of(cls, device: str, metric: Metric, before: str = "") -> "Declared":
        """What `metric` itself says of name, datatype and unit."""
        unit = next((each for key in UNIT_KEYS if (each := metric.property(key))), "")
        return cls(device, metric.name, metric.datatype, str(unit), before)


class Heard(NamedTuple):
    """A metric that has a name; `repeated` where a birth tells again what was heard before.

    `crowded`: its own time is that of the value before, and the value is another one.
    """

    declared: Declared
    metric: Metric
    repeated: bool
    crowded: bool


@dataclass(frozen=True, slots=True)
class Update:
    """What a message says: its metrics by name, its faults, and why births are needed, if so.

    `gone` are the streams that a death makes stale.
    """

    address: Address | None = None
    timestamp_ms: int | None = None
    sequence: int | None = None
    heard: Lookup[str, Sequence[Heard]] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    gone: tuple[StreamKey, ...] = ()
    wanted: str = ""


@dataclass(slots=True)
class _Node:
    is_born: bool = False
    bd_seq: Number | None = None
    next_seq: int | None = None
    last_payload: int = 0
    wanted: str = ""
    names: dict[tuple[str, str], Declared] = field(default_factory=dict)
    aliases: dict[int, Declared] = field(default_factory=dict)
    told: dict[tuple[str, str], tuple[int, Number | None]] = field(default_factory=dict)
    units: dict[tuple[str, str], str] = field(default_factory=dict)
    streams: dict[StreamKey, str] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        kept = (len(self.names), len(self.aliases), len(self.told), len(self.streams))
        return max(kept) > MAX_METRICS

    def forget(self, device: str | None) -> None:
        """Forget what births said of one device, of the node itself (empty), or of all (None)."""
        for key in [key for key in self.names if device is None or key[0] == device]:
            del self.names[key]
        for alias in [a for a, d in self.aliases.items() if device is None or d.device == device]:
            del self.aliases[alias]


class SparkplugHost:
    """Takes every message of the namespace, once and in order."""

    def __init__(self) -> None:
        self._nodes = Recent[tuple[str, str], _Node](MAX_NODES)
        self._is_doubted = False

    def doubt(self) -> None:
        """Messages may have been missed: believe no alias until the births. From any thread."""
        self._is_doubted = True

    def take(self, payload: Payload) -> Update:
        """What `payload` says, taken into the state. Never raises."""
        address = Address.of(payload.message.topic)
        if address is None or address.kind == "CMD":
            return Update(address)
        decoded = decode_payload(payload.raw)
        if isinstance(decoded, Fault):
            return Update(address, faults=(decoded,))
        if self._is_doubted:
            self._is_doubted = False
            self._nodes = Recent[tuple[str, str], _Node](MAX_NODES)
        node = self._node(address)
        if address.kind == "DEATH":
            return _death(node, address, decoded, payload.raw)
        if address.kind == "BIRTH":
            return _birth(node, address, decoded, payload.raw)
        return _data(node, address, decoded, payload.raw)

    def observed(self, address: Address, stream: StreamKey) -> None:
        """Remember that `stream` is of the node or device, for its death."""
        self._node(address).streams[stream] = address.device

    def _node(self, address: Address) -> _Node:
        node = self._nodes.get(address[:2])
        if node is None or node.is_full:
            node = _Node()
            self._nodes.put(address[:2], node)
        return node


def _death(node: _Node, address: Address, payload: SparkplugPayload, raw: bytes) -> Update:
    if address.device:
        _count(node, payload, raw)
        node.forget(address.device)
    else:
        will = payload.metric(BD_SEQ)
        if will is not None and _is_earlier(will.value, node.bd_seq):
            return Update(address)
        node.is_born, node.next_seq = False, None
        node.forget(None)
    gone = [key for key, device in node.streams.items() if address.device in {"", device}]
    for key in gone:
        del node.streams[key]
    return Update(address, payload.timestamp_ms, gone=tuple(gone), wanted=node.wanted)


def _is_earlier(bd_seq: Number | None, than: Number | None) -> bool:
    """Whether `bd_seq` came before `than`; both count 0..255 and wrap."""
    return isinstance(bd_seq, int) and isinstance(than, int) and 0 < (than - bd_seq) % 256 < 128


def _birth(node: _Node, address: Address, payload: SparkplugPayload, raw: bytes) -> Update:
    if address.device:
        _count(node, payload, raw)
        if not node.is_born:
            node.wanted = "a device was born before its node"
        node.forget(address.device)
    else:
        will = payload.metric(BD_SEQ)
        node.bd_seq = None if will is None else will.value
        node.is_born, node.wanted = True, ""
        node.next_seq = None if payload.sequence is None else (payload.sequence + 1) % 256
        node.forget(None)
    for metric in payload.metrics:
        if metric.name:
            _declare(node, address.device, metric)
    return _update(node, address, payload)


def _declare(node: _Node, device: str, metric: Metric) -> None:
    key = (device, metric.name)
    declared = Declared.of(device, metric, node.units.get(key, ""))
    node.names[key] = declared
    if declared.unit:
        node.units[key] = declared.unit
    if metric.alias is not None:
        node.aliases[metric.alias] = declared


def _data(node: _Node, address: Address, payload: SparkplugPayload, raw: bytes) -> Update:
    _count(node, payload, raw)
    if not node.is_born:
        node.wanted = "the birth of the node was not heard"
    return _update(node, address, payload)


def _count(node: _Node, payload: SparkplugPayload, raw: bytes) -> None:
    """Compare `seq` with what must come next; a copy of the last message counts nothing."""
    expected, sequence, digest = node.next_seq, payload.sequence, hash(raw)
    if sequence is None:
        node.wanted = node.wanted or "a message has no seq"
        return
    if expected is not None and sequence != expected:
        behind = (expected - sequence) % 256
        if behind == 1 and digest == node.last_payload:
            return
        node.wanted = f"seq {sequence} came where {expected} was due"
        if behind <= _LATE:
            return
    node.next_seq, node.last_payload = (sequence + 1) % 256, digest


def _update(node: _Node, address: Address, payload: SparkplugPayload) -> Update:
    faults: list[Fault] = []
    heard: dict[str, list[Heard]] = {}
    for each in _heard(node, address, payload, faults):
        heard.setdefault(each.declared.name, []).append(each)
    return Update(
        address,
        payload.timestamp_ms,
        payload.sequence,
        heard,
        tuple(faults),
        wanted=node.wanted,
    )


def _heard(
    node: _Node, address: Address, payload: SparkplugPayload, faults: list[Fault]
) -> Iterator[Heard]:
    for metric in payload.metrics:
        if metric.name in {BD_SEQ, REBIRTH}:
            continue
        declared = _declared(node, address, metric)
        if declared is None:
            detail = f"alias {metric.alias} of {excerpt(address.device or address.node)}"
            faults.append(Fault(None, FaultReason.UNKNOWN_NAME, f"no birth has named {detail}"))
            node.wanted = f"no birth has named alias {metric.alias}"
            continue
        yield Heard(declared, metric, *_compared(node, declared, metric, address.kind))


def _declared(node: _Node, address: Address, metric: Metric) -> Declared | None:
    """What is known of a metric: by its name, which births and some data have, or by its alias."""
    if metric.name:
        known = node.names.get((address.device, metric.name))
        return known or Declared.of(address.device, metric)
    known = None if metric.alias is None else node.aliases.get(metric.alias)
    return known if known is not None and known.device == address.device else None


def _compared(node: _Node, declared: Declared, metric: Metric, kind: str) -> tuple[bool, bool]:
    """Whether it is `repeated` and whether it is `crowded` (Heard); remembers what is said."""
    if metric.timestamp_ms is None or metric.is_historical:
        return False, False
    key, said = (declared.device, declared.name), (metric.timestamp_ms, metric.value)
    before = node.told.get(key)
    node.told[key] = said
    crowded = before is not None and before[0] == said[0] and before != said
    return kind == "BIRTH" and before == said, crowded
