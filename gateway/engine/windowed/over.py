"""`OverWindows`: windows of a subscription and what it wants to be told, as every door has them.

    members of a request, a JSAP query, a command: windows, output, mode, after -> OverWindows

Place: between whoever subscribes and `SubscribeRequest`. Meaning: docs/windows.md; docs/events.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from gateway.engine.request import ALL_GATEWAYS, SubscribeRequest
from gateway.engine.spu import EACH, EVENT, UNION
from gateway.errors import WindowError
from gateway.journal.event_position import EventPosition
from gateway.windows.info import WindowInfo, date_time
from gateway.windows.window import OUTPUTS, Expand, Window, as_written, parse_windows
from jsap.template import Template

MODES = (UNION, EVENT, EACH)

ABSENT = ("keep", "drop")
"""What becomes of what a gateway had that is away."""

MOST_WINDOWS = 16
"""What one subscription may look at: each may hold what `WindowLimits` allows for all."""


@dataclass(frozen=True, slots=True)
class OverWindows:
    """`windows` by their IRIs, sorted; `output` is one of OUTPUTS, `mode` one of MODES.

    Of events it is told all `after` a position, by the id of the gateway whose position it is.
    `gateways` are whom it is asked of, `absent` is one of ABSENT: see SubscribeRequest.
    """

    windows: tuple[tuple[str, Window], ...] = ()
    output: str = OUTPUTS[0]
    mode: str = UNION
    after: tuple[tuple[str, EventPosition], ...] = ()
    gateways: tuple[str, ...] | None = None
    absent: str = ABSENT[0]

    @classmethod
    def of(cls, members: Mapping[str, object], expand: Expand = as_written) -> Self:
        """From the JSON members that `members` gives: any may be missing or null.

        `expand` makes IRIs of names with a prefix. Raises WindowError with the member and what
        would be right.
        """
        declared, output = members.get("windows"), members.get("output")
        windows = () if declared is None else parse_windows(declared, expand)
        if len(windows) > MOST_WINDOWS:
            raise WindowError(
                "windows", f"there are {len(windows)}", f"give {MOST_WINDOWS} at most"
            )
        mode, gateways = _mode(members.get("mode")), _gateways(members.get("gateways"))
        absent = _absent(members.get("absent"))
        after = _after(members.get("after"), is_offered=mode == EVENT or gateways is not None)
        _require_gateways(gateways, mode, members.get("absent"))
        told = OUTPUTS[0] if output is None else _output(output)
        return cls(windows, told, mode, after, gateways, absent)

    def asked(self, request: SubscribeRequest) -> SubscribeRequest:
        """The request, about all this."""
        return replace(
            request,
            windows=self.windows,
            output=self.output,
            mode=self.mode,
            after=self.after,
            gateways=self.gateways,
            absent=self.absent,
        )

    def members(self) -> dict[str, object]:
        """The same as JSON: what is not so by default."""
        found: dict[str, object] = {}
        if self.windows:
            found["windows"] = {iri: window.members() for iri, window in self.windows}
        if self.output != OUTPUTS[0]:
            found["output"] = self.output
        if self.mode != UNION:
            found["mode"] = self.mode
        if self.after:
            found["after"] = {gateway: str(position) for gateway, position in self.after}
        if self.gateways is not None:
            found["gateways"] = "all" if self.gateways == ALL_GATEWAYS else list(self.gateways)
        if self.absent != ABSENT[0]:
            found["absent"] = self.absent
        return found


OVER_NOTHING = OverWindows()

PREFIXES = frozenset(("gw", "property", "qudt", "sosa", "unit"))
"""By which people write names; as an IRI none of them would ever be a stream's."""


def written_out(name: str) -> str:
    """The IRI itself, for doors that know no prefixes. Raises WindowError for a name with one."""
    if name.partition(":")[0] in PREFIXES:
        raise WindowError("", f'"{name:.60}" is a name with a prefix', "write the IRI out")
    return name


def over_of(template: Template) -> OverWindows:
    """The windows of a profile's query. Raises WindowError, which names member and reason."""
    return OverWindows.of(template.over, written_out) if template.over else OVER_NOTHING


def told(info: WindowInfo) -> dict[str, object]:
    """What the first notification says of a window; times as xsd:dateTime, null where none is.

    With a `warning` where elements come so fast that it will hold more than it may.

    >>> told(WindowInfo(0, 1_500_000, False, 2, 5, 900, 0, None, 0, 0, 0))["to"]
    '1970-01-01T00:00:01.500000Z'
    """
    found: dict[str, object] = {
        "from": date_time(info.from_),
        "to": date_time(info.to),
        "complete": info.complete,
        "elements": info.elements,
    }
    return {**found, "warning": info.warning} if info.warning else found


def _output(value: object) -> str:
    if isinstance(value, str) and value in OUTPUTS:
        return value
    shown = repr(value)
    raise WindowError(
        "output", f"{shown:.60} is none", f"give {', '.join(OUTPUTS[:-1])} or {OUTPUTS[-1]}"
    )


def _mode(value: object) -> str:
    if value is None:
        return UNION
    if isinstance(value, str) and value in MODES:
        return value
    raise WindowError("mode", f"{value!r:.60} is none", f"give {' or '.join(MODES)}")


def _gateways(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if value == "all":
        return ALL_GATEWAYS
    names = [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
    if not isinstance(value, list) or not 0 < len(value) == len(names) <= _MOST_GATEWAYS:
        raise WindowError("gateways", f"{value!r:.60} names none", 'give "all", or a list of ids')
    return tuple(sorted(set(names)))


_MOST_GATEWAYS = 1000
_AFTER = 'give {"<gateway>": "<position>"}, as `events` of a notification has them'


def _absent(value: object) -> str:
    if value is None:
        return ABSENT[0]
    if isinstance(value, str) and value in ABSENT:
        return value
    raise WindowError("absent", f"{value!r:.60} is none", f"give {' or '.join(ABSENT)}")


def _require_gateways(gateways: tuple[str, ...] | None, mode: str, absent: object) -> None:
    """Raise WindowError for what is about several gateways where one is asked, or about events."""
    if gateways is None and mode == EACH:
        raise WindowError("mode", "each is for several gateways", "add gateways")
    if absent is not None and (gateways is None or mode == EVENT):
        raise WindowError(
            "absent", "is about what several gateways have", "add gateways, without mode event"
        )


def _after(value: object, *, is_offered: bool) -> tuple[tuple[str, EventPosition], ...]:
    if value is None:
        return ()
    if not isinstance(value, Mapping) or len(value) > _MOST_GATEWAYS:
        raise WindowError("after", f"{value!r:.60} has no positions by gateway", _AFTER)
    if not is_offered:
        raise WindowError("after", "is for events", "add mode event, or gateways")
    try:
        found = {str(each): EventPosition.parse(str(text)) for each, text in value.items()}
    except ValueError as error:
        raise WindowError("after", str(error), _AFTER) from error
    return tuple(sorted(found.items()))
