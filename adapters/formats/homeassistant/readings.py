"""Which states an entity tells, beyond the rows that its component always has.

Place on the way: between `components`, which has rows of keys, and discovery, which makes mappings
of them. Scales become the vocabulary's here: a position is 0 where it is closed, whatever the
device counts.
Source: Home Assistant's documentation of its MQTT components.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from adapters.formats.homeassistant.announcement import Entity
from adapters.formats.homeassistant.classes import ON_IS_FALSE, OPENINGS
from adapters.formats.homeassistant.components import (
    BARE_OR_STATE,
    CLOSES,
    INSTALLED_VERSION,
    IS_CLOSED,
    IS_OPEN,
    LATEST_VERSION,
    OFF,
    ON,
    OPENS,
    PLAIN,
    SINGLE,
    STATES,
    STOPS,
    Range,
    State,
    Word,
)

_PERCENT = Range(Word("", "0"), Word("", "100"))
_IS_JSON = re.compile(r"to_?json|\{\s*\"")


@dataclass(frozen=True, slots=True)
class Scale:
    """What the device says for 0 and for 100 percent, and how what it is told is rounded."""

    low: int = 0
    high: int = 100
    rounding: str = "common"

    @property
    def is_percent(self) -> bool:
        """Whether nothing has to be calculated."""
        return (self.low, self.high) == (0, 100)

    @property
    def read(self) -> str:
        """A template that makes percent of the name `told`, as Home Assistant does."""
        if self.is_percent:
            return "{{ told }}"
        return f"{{{{ (told | float - ({self.low})) * 100 // ({self.high - self.low}) }}}}"

    @property
    def write(self) -> str:
        """Statements that make `value`, which is percent, the device's, and keep it as position."""
        if self.is_percent:
            return ""
        scaled = f"value | float * ({self.high - self.low}) / 100 + ({self.low})"
        rounded = f"({scaled}) | round(0, '{self.rounding}')"
        return f"{{% set position = value %}}{{% set value = {rounded} %}}"


@dataclass(frozen=True, slots=True)
class Reading:
    """A state with its template as text; `topic` is the announced topic, `scale` of what is set."""

    state: State
    topic: str
    template: str
    scale: Scale = Scale()


def readings(entity: Entity) -> Iterator[Reading]:
    """Every state that is told, or can be set without being told; raises ValueError."""
    found = _BY_COMPONENT.get(entity.component)
    if found is not None:
        yield from found(entity)
        return
    for state in STATES[entity.component]:
        yield from _announced(entity, state)


def then(template: str, tail: str) -> str:
    """A template whose result is `told` in another one.

    >>> then("", "{{ told | int }}")
    '{% set told %}{{ value }}{% endset %}{{ told | int }}'
    """
    return f"{{% set told %}}{template or PLAIN}{{% endset %}}{tail}"


def _announced(entity: Entity, state: State, scale: Scale = Scale()) -> Iterator[Reading]:
    topic = entity.topic(state.topic)
    if not topic and not entity.topic(state.command):
        return
    is_key = "{" not in state.template
    template = entity.text(state.template) if is_key else state.template
    if not scale.is_percent:
        template = then(template, scale.read)
    yield Reading(state, topic, template, scale)


def _sensor(entity: Entity) -> Iterator[Reading]:
    yield from _announced(entity, State("state_topic", "value_template"))


def _binary_sensor(entity: Entity) -> Iterator[Reading]:
    true, false = (OFF, ON) if entity.device_class in ON_IS_FALSE else (ON, OFF)
    yield from _announced(entity, State("state_topic", "value_template", true=true, false=false))


def _switch(entity: Entity) -> Iterator[Reading]:
    on, off = (entity.text(each.key) or each.usual for each in (ON, OFF))
    true, false = Word("state_on", on), Word("state_off", off)
    yield from _announced(entity, replace(SINGLE, true=true, false=false, words=(ON, OFF)))


def _siren(entity: Entity) -> Iterator[Reading]:
    on, off = (entity.text(each.key) or each.usual for each in (ON, OFF))
    told = entity.text("state_value_template") or entity.text("value_template")
    for state in STATES["siren"]:
        words = replace(state, true=Word("state_on", on), false=Word("state_off", off))
        yield from _announced(entity, replace(words, template=then(told, BARE_OR_STATE)))


def _lawn_mower(entity: Entity) -> Iterator[Reading]:
    verbs = [verb for verb in _MOWS if entity.topic(f"{verb}_command_topic")]
    sent = {
        (entity.topic(f"{verb}_command_topic"), entity.text(f"{verb}_command_template"))
        for verb in verbs
    }
    for state in STATES["lawn_mower"]:
        if len(sent) == 1:
            state_and_commands = replace(
                state,
                command=f"{verbs[0]}_command_topic",
                command_template=f"{verbs[0]}_command_template",
                words=tuple(Word("", verb) for verb in verbs),
            )
            yield from _announced(entity, state_and_commands)
        else:
            yield from _announced(entity, state)


_MOWS = ("start_mowing", "pause", "dock", "stop")


def _number(entity: Entity) -> Iterator[Reading]:
    limits = Range(Word("min", "1"), Word("max", "100"), Word("step", "1"))
    yield from _announced(entity, replace(SINGLE, limits=limits))


def _select(entity: Entity) -> Iterator[Reading]:
    yield from _announced(entity, replace(SINGLE, choice=("options", ())))


def _text(entity: Entity) -> Iterator[Reading]:
    yield from _announced(entity, SINGLE)


def _event(entity: Entity) -> Iterator[Reading]:
    told = entity.text("value_template")
    template = (
        then(told, "{{ (told | from_json).event_type }}") if told else "{{ value_json.event_type }}"
    )
    yield from _announced(entity, State("state_topic", template))


def _update(entity: Entity) -> Iterator[Reading]:
    told = entity.text("value_template")
    installed = State(
        "state_topic", then(told, INSTALLED_VERSION), "firmware_version", "installed_version"
    )
    yield from _announced(entity, installed)
    has_own = bool(entity.topic("latest_version_topic"))
    latest = State(
        "latest_version_topic" if has_own else "state_topic",
        "latest_version_template" if has_own else then(told, LATEST_VERSION),
        "latest_firmware_version",
        "latest_version",
    )
    yield from _announced(entity, latest)


def _cover(entity: Entity) -> Iterator[Reading]:
    scale = Scale(entity.whole("position_closed", 0), entity.whole("position_open", 100))
    if scale.low == scale.high:
        raise ValueError("position_open: it is position_closed.")
    position = _position(entity, scale)
    if entity.topic("state_topic") or not entity.topic("position_topic"):
        state = replace(SINGLE, term="cover_state", words=(OPENS, CLOSES, STOPS))
    else:
        # As Home Assistant has it: without a topic of its own the position tells the state.
        shut = "{{ 'closed' if told | float == 0 else 'open' }}"
        told = then(then(position, scale.read) if not scale.is_percent else position, shut)
        state = replace(
            SINGLE,
            topic="position_topic",
            template=told,
            term="cover_state",
            words=(OPENS, CLOSES, STOPS),
        )
    yield from _announced(entity, state)
    if entity.device_class in OPENINGS:
        opening = replace(state, term="opening", part="opening", words=(OPENS, CLOSES))
        yield from _announced(entity, replace(opening, true=IS_OPEN, false=IS_CLOSED))
    yield from _positions(entity, position, scale)


def _position(entity: Entity, scale: Scale) -> str:
    """The template of the position, its names written out, a JSON object's member taken."""
    template = entity.text("position_template")
    if _IS_JSON.search(template):
        template = then(template, "{{ (told | from_json).position }}")
    names = {"position_open": scale.high, "position_closed": scale.low}
    told = "".join(f"{{% set {n} = {v} %}}" for n, v in names.items() if n in template)
    return told + template


def _positions(entity: Entity, position: str, scale: Scale) -> Iterator[Reading]:
    state = State(
        "position_topic",
        position or PLAIN,
        "position",
        "position",
        "%",
        command="set_position_topic",
        command_template="set_position_template",
        limits=_PERCENT,
    )
    is_state = all(
        entity.text(one) == entity.text(other)
        for one, other in (
            ("position_topic", "state_topic"),
            ("position_template", "value_template"),
        )
    )
    if not is_state:
        yield from _announced(entity, state, scale)
    tilt = Scale(entity.whole("tilt_min", 0), entity.whole("tilt_max", 100))
    if tilt.low == tilt.high:
        raise ValueError("tilt_max: it is tilt_min.")
    state = State(
        "tilt_status_topic",
        "tilt_status_template",
        "tilt_position",
        "tilt",
        "%",
        command="tilt_command_topic",
        command_template="tilt_command_template",
        limits=_PERCENT,
    )
    yield from _announced(entity, state, tilt)


def _valve(entity: Entity) -> Iterator[Reading]:
    template = entity.text("value_template")
    if not entity.is_true("reports_position"):
        template = template or then("", BARE_OR_STATE)
        words = (OPENS, CLOSES, *((STOPS,) if entity.text("payload_stop") else ()))
        state = replace(
            SINGLE,
            template=template,
            term="valve_open",
            true=IS_OPEN,
            false=IS_CLOSED,
            words=words,
        )
        yield from _announced(entity, state)
        yield from _announced(entity, State("state_topic", template, "valve_state", "state"))
        return
    scale = Scale(entity.whole("position_closed", 0), entity.whole("position_open", 100))
    if scale.low == scale.high:
        raise ValueError("position_open: it is position_closed.")
    of_json = "{% if told.startswith('{') %}{{ (told | from_json)"
    number = f"{of_json}.position }}}}{{% elif told | is_number %}}{{{{ told }}}}{{% endif %}}"
    word = f"{of_json}.state }}}}{{% elif not told | is_number %}}{{{{ told }}}}{{% endif %}}"
    position = replace(
        SINGLE, template=then(template, number), term="valve_position", unit="%", limits=_PERCENT
    )
    yield from _announced(entity, position, scale)
    yield from _announced(
        entity, State("state_topic", then(template, word), "valve_state", "state")
    )


_DIMS = frozenset({"brightness", "color_temp", "hs", "xy", "rgb", "rgbw", "rgbww", "white"})
_ON_OFF = (Word("", "ON"), Word("", "OFF"))


def _light(entity: Entity) -> Iterator[Reading]:
    rows: Mapping[str, Callable[[Entity], Iterator[State]]] = {
        "json": _json_light,
        "template": _template_light,
    }
    for state in rows.get(entity.text("schema"), _basic_light)(entity):
        yield from _announced(entity, state)


def _basic_light(entity: Entity) -> Iterator[State]:
    for state in STATES["light"]:
        is_by_brightness = entity.text("on_command_type") == "brightness"
        if state.term == "power_state" and is_by_brightness:
            yield replace(state, words=(OFF,))  # on is told by the brightness alone
        else:
            yield _colored(entity, state)


def _colored(entity: Entity, state: State) -> State:
    """With the unit and the range of its colour temperature."""
    if state.term != "color_temperature":
        return state
    scale, unit = ("kelvin", "K") if entity.is_true("color_temp_kelvin") else ("mireds", "mired")
    return replace(
        state, unit=unit, limits=Range(Word(f"min_{scale}", ""), Word(f"max_{scale}", ""))
    )


def _json_light(entity: Entity) -> Iterator[State]:
    modes = set(entity.words("supported_color_modes"))
    told = modes | {each for each in (*_DIMS, "effect") if entity.is_true(each)}
    yield _of_json("{{ value_json.state }}", "power_state", "", '{"state":{value}}')
    if told & _DIMS:
        most = Range(Word("", "0"), Word("brightness_scale", "255"))
        yield replace(_of_light("brightness", "brightness"), limits=most)
    if "color_temp" in told:
        yield _colored(entity, _of_light("color_temp", "color_temperature"))
    if modes:
        yield State("state_topic", "{{ value_json.color_mode }}", "color_mode", "color_mode")
    if "effect" in told or entity.words("effect_list"):
        yield replace(_of_light("effect", "effect"), choice=("effect_list", ()))
    for member, term, mode in (
        *(("x", "color_x", "xy"), ("y", "color_y", "xy")),
        *(("h", "hue", "hs"), ("s", "saturation", "hs")),
    ):
        if mode in told:
            unit = {"h": "°", "s": "%"}.get(member, "")
            yield State("state_topic", f"{{{{ value_json.color.{member} }}}}", term, term, unit)
    if told & {"rgb", "rgbw", "rgbww"}:
        parts = ",".join(f"{{{{ value_json.color.{member} }}}}" for member in "rgb")
        yield State("state_topic", parts, "color", "rgb")


def _of_light(member: str, term: str) -> State:
    payload = f'{{"state":"ON","{member}":{{value}}}}'
    return replace(_of_json(f"{{{{ value_json.{member} }}}}", term, member, payload), words=())


def _of_json(template: str, term: str, part: str, payload: str) -> State:
    is_switch = not part
    return State(
        "state_topic",
        template,
        term,
        part,
        true=_ON_OFF[0] if is_switch else None,
        false=_ON_OFF[1] if is_switch else None,
        command="command_topic",
        payload=payload,
        words=_ON_OFF,
    )


def _template_light(entity: Entity) -> Iterator[State]:
    on, off = Word("", "on"), Word("", "off")
    yield State(
        "state_topic",
        "state_template",
        "power_state",
        true=on,
        false=off,
        command="command_topic",
        command_template="command_on_template",
        words=(on, off),
    )
    for part, term in (
        *(("brightness", "brightness"), ("color_temp", "color_temperature")),
        ("effect", "effect"),
    ):
        if entity.text(f"{part}_template"):
            yield _colored(entity, State("state_topic", f"{part}_template", term, part))
    colors = [entity.text(f"{color}_template") for color in ("red", "green", "blue")]
    if all(colors):
        yield State("state_topic", ",".join(colors), "color", "rgb")


def _fan(entity: Entity) -> Iterator[Reading]:
    speeds = Scale(
        entity.whole("speed_range_min", 1) - 1, entity.whole("speed_range_max", 100), "ceil"
    )
    if speeds.low >= speeds.high:
        raise ValueError("speed_range_max: it is below speed_range_min.")
    for state in STATES["fan"]:
        is_speed = state.term == "fan_speed"
        yield from _announced(entity, state, speeds if is_speed else Scale())


_BY_COMPONENT: Mapping[str, Callable[[Entity], Iterator[Reading]]] = {
    "binary_sensor": _binary_sensor,
    "cover": _cover,
    "event": _event,
    "fan": _fan,
    "lawn_mower": _lawn_mower,
    "light": _light,
    "number": _number,
    "select": _select,
    "sensor": _sensor,
    "siren": _siren,
    "switch": _switch,
    "text": _text,
    "update": _update,
    "valve": _valve,
}
