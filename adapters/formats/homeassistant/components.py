"""The states of Home Assistant's components, and how they are set: rows of keys of announcements.

Place on the way: `readings` makes a mapping of each row whose topic is announced. A row is read as
Home Assistant reads it: with its scale, with its words, from the member of a JSON state.
Source: Home Assistant's documentation of its MQTT components.
"""

from collections.abc import Mapping
from dataclasses import dataclass

PLAIN = "{{ value }}"


@dataclass(frozen=True, slots=True)
class Word:
    """A key whose value is a word of the device, and the word where the key is absent."""

    key: str
    usual: str


@dataclass(frozen=True, slots=True)
class Range:
    """Keys of the least and greatest value and of the step, with what is usual."""

    least: Word
    most: Word
    step: Word = Word("", "")


@dataclass(frozen=True, slots=True)
class State:
    """One of an entity's states.

    `topic` is the key of its topic, `template` that of its template or, with braces, the template
    itself. `part` tells it apart from the entity's others, `term` is of the vocabulary, empty where
    the class decides. `true` and `false` are the words of a truth value. `command` and
    `command_template` are keys as well, `payload` is what is sent where no template is told;
    `choice` is the key of the values that may be set with those that are usual, `words` are single
    keys of such values, the first two of them true and false.
    """

    topic: str
    template: str
    term: str = ""
    part: str = ""
    unit: str = ""
    true: Word | None = None
    false: Word | None = None
    command: str = ""
    command_template: str = ""
    payload: str = "{value}"
    choice: tuple[str, tuple[str, ...]] = ("", ())
    words: tuple[Word, ...] = ()
    limits: Range | None = None


ON, OFF = Word("payload_on", "ON"), Word("payload_off", "OFF")
_TEMPERATURES = Range(Word("min_temp", ""), Word("max_temp", ""), Word("temp_step", ""))


def _is_on(template: str) -> State:
    return State(
        "state_topic",
        template,
        "power_state",
        true=ON,
        false=OFF,
        command="command_topic",
        command_template="command_template",
        words=(ON, OFF),
    )


def _mode(
    prefix: str, term: str, choice: tuple[str, tuple[str, ...]], *, template: str = "state_template"
) -> State:
    return State(
        f"{prefix}_state_topic",
        f"{prefix}_{template}",
        term,
        prefix,
        command=f"{prefix}_command_topic",
        command_template=f"{prefix}_command_template",
        choice=choice,
    )


def _set_point(prefix: str, term: str) -> State:
    return State(
        f"{prefix}_state_topic",
        f"{prefix}_state_template",
        term,
        prefix,
        "temperature",
        command=f"{prefix}_command_topic",
        command_template=f"{prefix}_command_template",
        limits=_TEMPERATURES,
    )


_TEMPERATURE = State(
    "current_temperature_topic",
    "current_temperature_template",
    "temperature",
    "current_temperature",
    "temperature",
)
_HUMIDITY = State(
    "current_humidity_topic", "current_humidity_template", "humidity", "current_humidity", "%RH"
)


def _target_humidity(least: str, most: str) -> State:
    return State(
        "target_humidity_state_topic",
        "target_humidity_state_template",
        "target_humidity",
        "target_humidity",
        "%RH",
        command="target_humidity_command_topic",
        command_template="target_humidity_command_template",
        limits=Range(Word("min_humidity", least), Word("max_humidity", most)),
    )


_POWER = State(
    "power_state_topic",
    "power_state_template",
    "power_state",
    "power",
    true=ON,
    false=OFF,
    command="power_command_topic",
    command_template="power_command_template",
    words=(ON, OFF),
)

_MODES = ("auto", "off", "cool", "heat", "dry", "fan_only")
_CLIMATE = (
    _TEMPERATURE,
    _HUMIDITY,
    _set_point("temperature", "set_point"),
    _set_point("temperature_low", "target_temperature_low"),
    _set_point("temperature_high", "target_temperature_high"),
    _target_humidity("30", "99"),
    _mode("mode", "hvac_mode", ("modes", _MODES)),
    _mode("fan_mode", "fan_mode", ("fan_modes", ("auto", "low", "medium", "high"))),
    _mode("swing_mode", "swing_mode", ("swing_modes", ("on", "off"))),
    _mode("swing_horizontal_mode", "swing_mode", ("swing_horizontal_modes", ("on", "off"))),
    _mode("preset_mode", "preset_mode", ("preset_modes", ()), template="value_template"),
    State("action_topic", "action_template", "hvac_action", "action"),
    _POWER,
)
_BOILER_MODES = ("off", "eco", "electric", "gas", "heat_pump", "high_demand", "performance")
_WATER_HEATER = (
    State(
        "current_temperature_topic",
        "current_temperature_template",
        "water_temperature",
        "current_temperature",
        "temperature",
    ),
    _set_point("temperature", "set_point"),
    _mode("mode", "operation_mode", ("modes", _BOILER_MODES)),
    _POWER,
)
_HUMIDIFIER = (
    _is_on("state_value_template"),
    _HUMIDITY,
    _target_humidity("0", "100"),
    _mode("mode", "operation_mode", ("modes", ())),
    State("action_topic", "action_template", "humidifier_action", "action"),
)

_SWINGS = Word("payload_oscillation_on", "oscillate_on")
_STANDS = Word("payload_oscillation_off", "oscillate_off")
_FAN = (
    _is_on("state_value_template"),
    State(
        "percentage_state_topic",
        "percentage_value_template",
        "fan_speed",
        "percentage",
        "%",
        command="percentage_command_topic",
        command_template="percentage_command_template",
        limits=Range(Word("", "0"), Word("", "100")),
    ),
    _mode("preset_mode", "preset_mode", ("preset_modes", ()), template="value_template"),
    State(
        "oscillation_state_topic",
        "oscillation_value_template",
        "oscillating",
        "oscillation",
        true=_SWINGS,
        false=_STANDS,
        command="oscillation_command_topic",
        command_template="oscillation_command_template",
        words=(_SWINGS, _STANDS),
    ),
    _mode(
        "direction",
        "fan_direction",
        ("", ("forward", "reverse")),
        template="value_template",
    ),
)


def _light(part: str, term: str, limits: Range | None = None) -> State:
    return State(
        f"{part}_state_topic",
        f"{part}_value_template",
        term,
        part,
        command=f"{part}_command_topic",
        command_template=f"{part}_command_template",
        limits=limits,
    )


_BRIGHTNESS = Range(Word("", "0"), Word("brightness_scale", "255"))
_LIGHT = (
    _is_on("state_value_template"),
    _light("brightness", "brightness", _BRIGHTNESS),
    _light("color_temp", "color_temperature"),
    State("color_mode_state_topic", "color_mode_value_template", "color_mode", "color_mode"),
    _mode("effect", "effect", ("effect_list", ()), template="value_template"),
    *(_light(part, "color") for part in ("hs", "rgb", "rgbw", "rgbww", "xy")),
)

_LOCK_WORDS = (
    Word("payload_lock", "LOCK"),
    Word("payload_unlock", "UNLOCK"),
    Word("payload_open", ""),
)
_LOCK = (
    State(
        "state_topic",
        "value_template",
        "locked",
        true=Word("state_locked", "LOCKED"),
        false=Word("state_unlocked", "UNLOCKED"),
        command="command_topic",
        command_template="command_template",
        words=_LOCK_WORDS,
    ),
    State("state_topic", "value_template", "lock_state", "state"),
)

OPENS, CLOSES = Word("payload_open", "OPEN"), Word("payload_close", "CLOSE")
STOPS = Word("payload_stop", "STOP")
IS_OPEN, IS_CLOSED = Word("state_open", "open"), Word("state_closed", "closed")
_CLEANS = tuple(
    Word(f"payload_{word}", word)
    for word in ("start", "pause", "stop", "return_to_base", "clean_spot", "locate")
)
_VACUUM = (
    State(
        "state_topic",
        "{{ value_json.state }}",
        "vacuum_state",
        command="command_topic",
        words=_CLEANS,
    ),
    State("state_topic", "{{ value_json.battery_level }}", "battery", "battery", "%"),
    State(
        "state_topic",
        "{{ value_json.fan_speed }}",
        "fan_mode",
        "fan_speed",
        command="set_fan_speed_topic",
        choice=("fan_speed_list", ()),
    ),
)
_ARMS = tuple(
    Word(f"payload_{word}", word.upper())
    for word in (
        *("disarm", "arm_home", "arm_away", "arm_night", "arm_vacation"),
        *("arm_custom_bypass", "trigger"),
    )
)
_ALARM = (
    State(
        "state_topic",
        "value_template",
        "alarm_state",
        command="command_topic",
        command_template="command_template",
        words=_ARMS,
    ),
)
_SIREN = (
    State(
        "state_topic",
        "state_value_template",
        "power_state",
        true=Word("state_on", ""),
        false=Word("state_off", ""),
        command="command_topic",
        command_template="command_template",
        payload='{"state":{value}}',
        words=(ON, OFF),
    ),
)
_TRACKER = (
    State(
        "state_topic",
        "value_template",
        "presence",
        true=Word("payload_home", "home"),
        false=Word("payload_not_home", "not_home"),
    ),
)
_UPDATE_TEXT = (
    "{{% if told.startswith('{{') %}}{{{{ (told | from_json).{0} }}}}{{% else %}}{1}{{% endif %}}"
)
INSTALLED_VERSION = _UPDATE_TEXT.format("installed_version", "{{ told }}")
LATEST_VERSION = _UPDATE_TEXT.format("latest_version", "")

BARE_OR_STATE = (
    "{% if told.startswith('{') %}{{ (told | from_json).state }}{% else %}{{ told }}{% endif %}"
)
"""What is told bare or as the member `state` of an object."""

SINGLE = State(
    "state_topic",
    "value_template",
    command="command_topic",
    command_template="command_template",
)
"""The state of a component that has one, of whatever meaning."""

STATES: Mapping[str, tuple[State, ...]] = {
    "alarm_control_panel": _ALARM,
    "climate": _CLIMATE,
    "device_tracker": _TRACKER,
    "fan": _FAN,
    "humidifier": _HUMIDIFIER,
    "lawn_mower": (State("activity_state_topic", "activity_value_template", "mower_state"),),
    "light": _LIGHT,
    "lock": _LOCK,
    "siren": _SIREN,
    "vacuum": _VACUUM,
    "water_heater": _WATER_HEATER,
}
"""The rows of components that always have the same."""

OTHERS = frozenset(
    {
        *("binary_sensor", "cover", "event", "number", "select", "sensor", "switch", "text"),
        *("update", "valve"),
    }
)
"""Components whose rows depend on what they announce."""

STATELESS = frozenset({"button", "camera", "device_automation", "image", "notify", "scene", "tag"})
"""Components that tell no state: what they announce is heard, and nothing is proposed."""

COMPONENTS = frozenset(STATES) | OTHERS
