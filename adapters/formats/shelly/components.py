"""What the components of Shelly devices call their values, and in which units they have them.

Place on the way: decoding and discovery of the family. A name is the kind of component and the path
in it: `temperature.tC` is a sensor's, `switch.temperature.tC` that of the relay itself. A path that
any kind may have stands behind `*`; the phases `a_`, `b_`, `c_`, `n_` of a meter are left out.
Source: Shelly API documentation (Gen2+), "Components and Services", the status of each.
"""

from collections.abc import Sequence

from adapters.values.meaning import Meaning, Told, WordTable
from adapters.values.properties import Kind

_TABLE = WordTable.of(
    """
    power               W    *.apower *.act_power *.total_act_power
    apparent_power      VA   *.aprtpower *.aprt_power *.total_aprt_power
    reactive_power      var  *.react_power *.total_react_power
    power_factor        1    *.pf
    voltage             V    *.voltage
    current             A    *.current *.total_current
    frequency           Hz   *.freq
    energy              Wh   *.aenergy.total *.total_act *.total_act_energy
    exported_energy     Wh   *.ret_aenergy.total *.total_act_ret *.total_act_ret_energy
    energy_last_minutes mWh  *.aenergy.by_minute
    exported_energy_last_minutes mWh *.ret_aenergy.by_minute
    device_temperature  °C   *.temperature.tC
    power_state         -    switch.output light.output rgb.output rgbw.output cct.output
    power_state         -    rgbcct.output thermostat.output
    brightness          %    *.brightness
    color_temperature   K    *.ct
    cover_state         -    cover.state
    position            %    cover.current_pos
    tilt_position       %    cover.slat_pos
    own-setting         %    cover.target_pos cover.slat_target_pos
    own                 -    cover.last_direction
    own-diagnostic      -    cover.pos_control cover.calibration
    input_state         -    input.state
    own                 %    input.percent
    own                 -    input.xpercent input.xfreq
    pulse_count         -    input.counts.total
    own                 -    input.counts.xtotal
    temperature         °C   temperature.tC thermostat.current_C blutrv.current_C
    humidity            %RH  humidity.rh thermostat.current_humidity
    illuminance         lx   illuminance.lux
    own                 -    illuminance.illumination
    smoke               -    smoke.alarm
    water_leak          -    flood.alarm
    own                 -    smoke.mute flood.mute
    presence            -    presence.state presencezone.state presencezone.value
    opening             -    window.open
    angle               °    tilt.angle
    motion              -    motion.motion
    people_count        -    presence.num_objects presencezone.num_objects
    set_point           °C   thermostat.target_C blutrv.target_C
    target_humidity     %RH  thermostat.target_humidity
    valve_position      %    blutrv.pos
    battery             %    devicepower.battery.percent blutrv.battery bthomedevice.battery
    battery_voltage     V    devicepower.battery.V
    external_power      -    devicepower.external.present
    signal_strength     dBm  wifi.rssi blutrv.rssi bthomedevice.rssi
    ip_address          -    wifi.sta_ip eth.ip
    connectivity        -    cloud.connected mqtt.connected ws.connected blutrv.connected
    uptime              s    sys.uptime
    free_memory         B    sys.ram_free
    own-diagnostic      B    sys.ram_size sys.ram_min_free sys.fs_size sys.fs_free
    own-diagnostic      s    sys.wakeup_period
    own-diagnostic      °C   sys.max_tC
    temperature         °C   blu.temperature
    humidity            %RH  blu.humidity
    illuminance         lx   blu.illuminance
    motion              -    blu.motion
    opening             -    blu.window
    angle               °    blu.rotation
    action              -    blu.button
    battery             %    blu.battery
    signal_strength     dBm  blu.rssi
    """
)
_TEXTS = frozenset(
    {"cover.state", "cover.last_direction", "illuminance.illumination", "wifi.sta_ip", "eth.ip"}
)
"""Words that mean what they say: `open` of a cover is what it does, no truth value."""

BLUETOOTH = "blu"
"""The kind of a sensor that a script on the device listens to; it is one by its address."""

_BITS = frozenset({"blu.motion", "blu.window"})
"""Truth values that are told as 1 and 0."""

_FITTED = frozenset({"temperature", "humidity", "illuminance", "voltmeter"})
"""Components that have no value at all where they tell an error."""

_SHARES = frozenset({"current_pos", "target_pos", "slat_pos", "slat_target_pos"})
"""From 0 to 100; what lies outside says that the device does not know."""

_PHASES = ("a_", "b_", "c_", "n_")
_OF_THE_DEVICE = frozenset(
    {
        "sys",
        "wifi",
        "eth",
        "cloud",
        "mqtt",
        "ws",
        "ble",
        "script",
        "modbus",
        "matter",
        "knx",
        "zigbee",
    }
)
VIRTUAL = frozenset({"number", "boolean", "text", "enum", "group", "button"})
"""Components that somebody made on the device; their status does not repeat their number."""

_MEASURING = frozenset(name.partition(".")[0] for name in _TABLE.words) - {"*"}
KINDS = (
    _MEASURING
    | _OF_THE_DEVICE
    | VIRTUAL
    | frozenset({"em", "em1", "emdata", "em1data", "pm1", "voltmeter", "bthomesensor", "cury"})
)
"""Kinds of components whose status is known by its topic."""


def kind_of(component: str) -> str:
    """The kind of a component: `switch` of `switch:0`."""
    return component.partition(":")[0]


def _name(steps: Sequence[str]) -> str:
    """The name in the table for the path of a value, its component the first step."""
    kind, path = kind_of(steps[0]) if steps else "", ".".join(steps[1:])
    plain = path[2:] if path.startswith(_PHASES) else path
    own = f"{kind}.{path}"
    return own if own in _TABLE else f"*.{plain}"


def unit_symbol(steps: Sequence[str]) -> str | None:
    """The symbol of the unit of the value at a path, phases of a meter included."""
    return _TABLE.unit(_name(steps))


def is_text(steps: Sequence[str]) -> bool:
    """Whether the value is a word whatever it looks like."""
    return _name(steps) in _TEXTS


def is_bit(steps: Sequence[str]) -> bool:
    """Whether 1 and 0 are truth values."""
    return _name(steps) in _BITS


def is_fitted(component: str) -> bool:
    """Whether the errors of the component are those of its value."""
    return kind_of(component) in _FITTED


def is_share(steps: Sequence[str]) -> bool:
    """Whether only 0 to 100 is a reading."""
    return steps[-1] in _SHARES


def meaning_of(steps: Sequence[str], told: Told) -> Meaning:
    """What the value at a path is."""
    of_device = Kind.DIAGNOSTIC if kind_of(steps[0]) in _OF_THE_DEVICE else told.kind
    return _TABLE.meaning(_name(steps), Told(told.unit, told.shape, of_device), steps[-1])
