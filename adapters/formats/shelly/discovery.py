"""What Shelly devices mention, as proposals: values, events of inputs, and what can be set.

Place on the way: the discovery part of the family. A device tells its status by notifications, by
status topics, or by both: the first that is heard proposes, the other would say the same twice.
"""

from collections.abc import Iterator, Sequence

from adapters.adapter import Fault
from adapters.documents.json_path import leaves
from adapters.formats.shelly.command import command_for
from adapters.formats.shelly.components import (
    BLUETOOTH,
    KINDS,
    VIRTUAL,
    is_bit,
    is_fitted,
    is_text,
    kind_of,
    meaning_of,
    unit_symbol,
)
from adapters.formats.shelly.notification import EVENTS, MAX_DEVICES, STATUS, Clocks, Frame
from adapters.formats.shelly.status import EVENT
from adapters.values.mapping import Mapping
from adapters.values.meaning import Meaning, Told, named
from adapters.values.memory import Memory, Recent
from adapters.values.payload import Json, Payload
from adapters.values.properties import Kind, Shape
from adapters.values.proposal import Names, Proposal
from adapters.values.result import JsonNumber

FAMILY = "shelly"
_NOT_MEASURED = frozenset(
    {
        "id",
        "ts",
        "tF",
        "target_F",
        "current_F",
        "unixtime",
        "minute_ts",
        "started_at",
        "last_sync_ts",
    }
    | {"cfg_rev", "kvs_rev", "schedule_rev", "webhook_rev", "btrelay_rev", "timer_started_at"}
    | {
        "timer_duration",
        "move_started_at",
        "move_timeout",
        "last_updated_ts",
        "packet_id",
        "last_update_ts",
        "utc_offset",
    }
)
_WITH_EVENTS = frozenset({"input", "bthomedevice", "bthomesensor", "blutrv", "presencezone"})


class Heard:
    """On which topics a device was heard first."""

    def __init__(self) -> None:
        self._ways = Recent[str, str](MAX_DEVICES)

    def is_first(self, prefix: str, way: str) -> bool:
        """Whether the device was not heard in another way before."""
        first = self._ways.get(prefix)
        if first is None:
            self._ways.put(prefix, way)
        return first in {None, way}


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """What a notification or the status of a component mentions."""
    topic = payload.message.topic
    way = EVENTS if topic.endswith(EVENTS) else STATUS
    prefix = topic.removesuffix(EVENTS) if way == EVENTS else _status_prefix(topic)
    if not prefix:
        return ()
    frame = payload.once(memory.of(Clocks).frame)
    if isinstance(frame, Fault) or (way == STATUS and not _is_status(frame)):
        return ()
    if not frame.events and not memory.of(Heard).is_first(prefix, way):
        return ()
    found = [*_values(frame), *_events(frame)]
    return [_proposal(prefix, topic, selector, meaning, names) for selector, meaning in found]


def _status_prefix(topic: str) -> str:
    prefix, _, component = topic.partition(STATUS)
    number = component.partition(":")[2]
    is_component = kind_of(component) in KINDS and (number.isdigit() or ":" not in component)
    return prefix if is_component else ""


def _is_status(frame: Frame) -> bool:
    """Whether the number in the topic is the one in the status, where it has one."""
    [(component, status)] = frame.components.items()
    number = component.partition(":")[2]
    told = status.get("id") if isinstance(status, dict) else None
    if told is None and kind_of(component) in VIRTUAL:
        return True
    return told == number if number else told is None


def _values(frame: Frame) -> Iterator[tuple[str, Meaning]]:
    for path, name, value in leaves(frame.components):
        selector = path.removeprefix("$.")
        steps = _steps(path)
        shape = _shape(steps, value)
        if len(steps) < 2 or name in _NOT_MEASURED or "errors" in steps or "flags" in steps:
            continue
        if (
            "transition" in steps
            or _is_without_value(frame, steps[0])
            or (shape is Shape.WORD and not is_text(steps))
        ):
            continue
        yield selector, meaning_of(steps, Told(shape=shape))


def _events(frame: Frame) -> Iterator[tuple[str, Meaning]]:
    told = (event.get("component") for event in frame.events)
    components = {each for each in told if isinstance(each, str) and kind_of(each) in _WITH_EVENTS}
    for component in sorted(components):
        yield EVENT + component, named("action", component)


def _is_without_value(frame: Frame, component: str) -> bool:
    told = frame.components.get(component)
    return is_fitted(component) and isinstance(told, dict) and bool(told.get("errors"))


def _shape(steps: Sequence[str], value: Json) -> Shape | None:
    """None for a number that counts presses, of which each is an event."""
    if steps[-1] == "button" and kind_of(steps[0]) == BLUETOOTH:
        return None
    if isinstance(value, bool) or (is_bit(steps) and value in {"0", "1"}):
        return Shape.TRUTH
    return Shape.NUMBER if type(value) is JsonNumber else Shape.WORD


def _steps(path: str) -> list[str]:
    """The member names of a path of `leaves`; a component's key needs brackets for its colon."""
    plain = path.removeprefix("$").replace("['", ".").replace("']", "")
    return [step.partition("[")[0] for step in plain.split(".") if step]


def _proposal(prefix: str, topic: str, selector: str, meaning: Meaning, names: Names) -> Proposal:
    component, _, path = selector.partition(".")
    symbol = unit_symbol(_steps(selector))
    device = f"{prefix}/{component}" if kind_of(component) == BLUETOOTH else prefix
    mapping = Mapping(
        names.mapping(FAMILY, prefix, selector),
        topic,
        FAMILY,
        names.sensor(FAMILY, prefix, selector),
        names.observed_property(meaning),
        names.feature(FAMILY, device),
        selector,
        None if meaning.kind is Kind.EVENT else "Wh" if symbol == "mWh" else symbol,
        true_value="1" if is_bit(_steps(selector)) else "",
        false_value="0" if is_bit(_steps(selector)) else "",
    )
    command = command_for(prefix, component, path)
    return Proposal(mapping, FAMILY, device, f"{prefix} {selector}", meaning, command)
