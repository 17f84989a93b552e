"""How Tasmota devices are told what to do: a bare word on `cmnd/<topic>/<command>`.

Place on the way: the discovery part of the family, where no announcement tells the topics.
Source: Tasmota's documentation, commands: control, light, shutters.
"""

import re
from collections.abc import Sequence

from adapters.values.proposal import Command

_PREFIXES = frozenset({"tele", "stat"})
_POWER = re.compile(r"POWER[0-9]{0,2}")
_SHUTTER = re.compile(r"(?:Shutter|SHUTTER)([0-9]{1,2})")


def command_for(topic: str, steps: Sequence[str]) -> Command | None:
    """The command that sets the value at a path of telemetry; None where none does.

    Only where a level of the topic is the prefix that a command's topic has in its place.
    """
    levels = topic.split("/")[:-1]
    if sum(level in _PREFIXES for level in levels) != 1:
        return None
    base = "/".join("cmnd" if level in _PREFIXES else level for level in levels)
    match list(steps):
        case [name] if _POWER.fullmatch(name):
            return Command(f"{base}/{name}", values=("ON", "OFF", "TOGGLE"))
        case ["Dimmer"]:
            return Command(f"{base}/Dimmer", minimum="0", maximum="100")
        case ["CT"]:
            return Command(f"{base}/CT", minimum="153", maximum="500")
        case [shutter, "Position"] if number := _SHUTTER.fullmatch(shutter):
            return Command(f"{base}/ShutterPosition{number[1]}", minimum="0", maximum="100")
    return None
