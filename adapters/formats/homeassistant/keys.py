"""The keys of Home Assistant's discovery messages: abbreviations, components, state topics."""

from collections.abc import Mapping
from typing import NamedTuple

from adapters.values.payload import Json

COMPONENTS = frozenset(
    (
        "alarm_control_panel",
        "binary_sensor",
        "climate",
        "cover",
        "event",
        "fan",
        "humidifier",
        "lawn_mower",
        "light",
        "lock",
        "number",
        "select",
        "sensor",
        "siren",
        "switch",
        "text",
        "update",
        "vacuum",
        "valve",
        "water_heater",
    )
)
"""Components that have a state; buttons, cameras, scenes and triggers have none."""


class State(NamedTuple):
    """Keys of a state's topic, of its template, and of the topic that sets it, if one does."""

    topic: str
    template: str
    command: str = ""

    @property
    def what(self) -> str:
        """Which of several states, empty for the component's own."""
        return self.topic.removesuffix("_topic").removesuffix("state").strip("_")


STATES = (
    State("state_topic", "value_template", "command_topic"),
    State("current_temperature_topic", "current_temperature_template"),
    State("temperature_state_topic", "temperature_state_template", "temperature_command_topic"),
    State("current_humidity_topic", "current_humidity_template"),
    State(
        "target_humidity_state_topic",
        "target_humidity_state_template",
        "target_humidity_command_topic",
    ),
    State("mode_state_topic", "mode_state_template", "mode_command_topic"),
    State("fan_mode_state_topic", "fan_mode_state_template", "fan_mode_command_topic"),
    State("action_topic", "action_template"),
    State("position_topic", "position_template", "set_position_topic"),
    State("tilt_status_topic", "tilt_status_template", "tilt_command_topic"),
    State("brightness_state_topic", "brightness_value_template", "brightness_command_topic"),
    State("color_temp_state_topic", "color_temp_value_template", "color_temp_command_topic"),
    State("percentage_state_topic", "percentage_value_template", "percentage_command_topic"),
    State("preset_mode_state_topic", "preset_mode_value_template", "preset_mode_command_topic"),
)
"""Every state that a component may have."""

_ABBREVIATIONS = {
    "act_t": "action_topic",
    "act_tpl": "action_template",
    "avty": "availability",
    "avty_mode": "availability_mode",
    "avty_t": "availability_topic",
    "avty_tpl": "availability_template",
    "bri_cmd_t": "brightness_command_topic",
    "bri_stat_t": "brightness_state_topic",
    "bri_val_tpl": "brightness_value_template",
    "clr_temp_cmd_t": "color_temp_command_topic",
    "clr_temp_stat_t": "color_temp_state_topic",
    "clr_temp_val_tpl": "color_temp_value_template",
    "cmd_t": "command_topic",
    "cmd_tpl": "command_template",
    "cmps": "components",
    "cns": "connections",
    "curr_hum_t": "current_humidity_topic",
    "curr_hum_tpl": "current_humidity_template",
    "curr_temp_t": "current_temperature_topic",
    "curr_temp_tpl": "current_temperature_template",
    "dev": "device",
    "dev_cla": "device_class",
    "ent_cat": "entity_category",
    "exp_aft": "expire_after",
    "fan_mode_cmd_t": "fan_mode_command_topic",
    "fan_mode_stat_t": "fan_mode_state_topic",
    "fan_mode_stat_tpl": "fan_mode_state_template",
    "hum_cmd_t": "target_humidity_command_topic",
    "hum_stat_t": "target_humidity_state_topic",
    "hum_state_tpl": "target_humidity_state_template",
    "ids": "identifiers",
    "json_attr_t": "json_attributes_topic",
    "mdl": "model",
    "mf": "manufacturer",
    "mode_cmd_t": "mode_command_topic",
    "mode_stat_t": "mode_state_topic",
    "mode_stat_tpl": "mode_state_template",
    "o": "origin",
    "obj_id": "object_id",
    "ops": "options",
    "p": "platform",
    "pct_cmd_t": "percentage_command_topic",
    "pct_stat_t": "percentage_state_topic",
    "pct_val_tpl": "percentage_value_template",
    "pl_avail": "payload_available",
    "pl_not_avail": "payload_not_available",
    "pl_off": "payload_off",
    "pl_on": "payload_on",
    "pos_t": "position_topic",
    "pos_tpl": "position_template",
    "pr_mode_cmd_t": "preset_mode_command_topic",
    "pr_mode_stat_t": "preset_mode_state_topic",
    "pr_mode_val_tpl": "preset_mode_value_template",
    "ret": "retain",
    "set_pos_t": "set_position_topic",
    "stat_cla": "state_class",
    "stat_locked": "state_locked",
    "stat_off": "state_off",
    "stat_on": "state_on",
    "stat_t": "state_topic",
    "stat_tpl": "value_template",
    "stat_unlocked": "state_unlocked",
    "state_template": "value_template",
    "sw": "sw_version",
    "t": "topic",
    "temp_cmd_t": "temperature_command_topic",
    "temp_stat_t": "temperature_state_topic",
    "temp_stat_tpl": "temperature_state_template",
    "tilt_cmd_t": "tilt_command_topic",
    "tilt_status_t": "tilt_status_topic",
    "tilt_status_tpl": "tilt_status_template",
    "uniq_id": "unique_id",
    "unit_of_meas": "unit_of_measurement",
    "val_tpl": "value_template",
}


def full_names(members: Mapping[str, Json]) -> dict[str, Json]:
    """The members with their abbreviated keys written out."""
    return {_ABBREVIATIONS.get(name, name): value for name, value in members.items()}
