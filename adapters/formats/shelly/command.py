"""How Shelly devices are told what to do: one JSON-RPC on `<prefix>/rpc`.

Place on the way: discovery proposes the commands; `encode` makes the bytes of what the gateway has
filled in. A cover is told the state that it is to be in, in the words in which it reports it, so
that its report confirms the command.
Source: Shelly API documentation (Gen2+), Switch.Set, Light.Set, Cover.Open, Cover.GoToPosition.
"""

import json
from datetime import datetime
from typing import Any

from adapters.formats.shelly.components import kind_of
from adapters.values.proposal import Command

_METHODS = {
    "switch": "Switch.Set",
    "light": "Light.Set",
    "rgb": "RGB.Set",
    "rgbw": "RGBW.Set",
    "cct": "CCT.Set",
}
_COVER_STATES = {"open": "Cover.Open", "closed": "Cover.Close", "stopped": "Cover.Stop"}
_TRUTHS = ("true", "false")


def command_for(prefix: str, component: str, path: str) -> Command | None:
    """The command that sets the value at `path` of a component, None where none does."""
    kind, number = kind_of(component), component.partition(":")[2]
    if not number.isascii() or not number.isdigit():
        return None
    match kind, path:
        case ("cover", "state"):
            return _rpc(prefix, "Cover", number, '"state":{value}', tuple(_COVER_STATES))
        case ("cover", "current_pos"):
            return _share(prefix, "Cover.GoToPosition", number, "pos")
        case ("cover", "slat_pos"):
            return _share(prefix, "Cover.GoToPosition", number, "slat_pos")
        case (_, "output") if kind in _METHODS:
            return _rpc(prefix, _METHODS[kind], number, '"on":{value}', _TRUTHS)
        case (_, "brightness") if kind in _METHODS:
            return _share(prefix, _METHODS[kind], number, "brightness")
        case ("thermostat", "target_C"):
            config = '"config":{"target_C":{value}}'
            return _rpc(prefix, "Thermostat.SetConfig", number, config)
    return None


def encode(text: str, sent_at: datetime) -> bytes:
    """The payload of a filled-in command; a cover's wanted state becomes the method for it.

    >>> from datetime import UTC
    >>> told = '{"id":1,"src":"a","method":"Cover","params":{"id":0,"state":"closed"}}'
    >>> encode(told, datetime(2026, 3, 2, tzinfo=UTC))
    b'{"id":1,"src":"a","method":"Cover.Close","params":{"id":0}}'
    """
    del sent_at
    try:
        call: Any = json.loads(text)
    except ValueError as error:
        raise ValueError("a command of a Shelly is JSON") from error
    if not isinstance(call, dict) or call.get("method") != "Cover":
        return text.encode()
    params = call.get("params")
    state = params.pop("state", None) if isinstance(params, dict) else None
    if state not in _COVER_STATES:
        raise ValueError(f"a cover is told {', '.join(_COVER_STATES)}, not {state!a}")
    call["method"] = _COVER_STATES[state]
    return json.dumps(call, separators=(",", ":"), ensure_ascii=False).encode()


def _rpc(
    prefix: str, method: str, number: str, params: str, values: tuple[str, ...] = ()
) -> Command:
    source = json.dumps(prefix)
    payload = f'{{"id":1,"src":{source},"method":"{method}","params":{{"id":{number},{params}}}}}'
    return Command(f"{prefix}/rpc", payload, values)


def _share(prefix: str, method: str, number: str, name: str) -> Command:
    told = _rpc(prefix, method, number, f'"{name}":{{value}}')
    return Command(told.topic, told.payload, minimum="0", maximum="100")
