"""What each member of a declaration may be, and which go together; each refusal says what to do.

Place: between the constructor of `Window` and whoever wrote the declaration.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypedDict
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pyoxigraph import NamedNode

from gateway.errors import WindowError
from gateway.windows.durations import DAY_US, duration

if TYPE_CHECKING:
    from gateway.windows.window import Window

Length = int | str | timedelta
"""Microseconds, a text of ISO 8601, or a timedelta."""


class Others(TypedDict, total=False):
    """The members beside the stream and the size, as the constructor takes them."""

    step: Length | None
    per: str | None
    sensor: str | Iterable[str]
    property: str | Iterable[str]
    feature: str | Iterable[str]
    lateness: Length
    late: str
    time: str
    clock: str
    zone: str | None
    limit: int | None
    overflow: str
    bounds: bool


MEMBERS: dict[str, object] = {
    "stream": None,
    "range": None,
    "triples": None,
    "elements": None,
    "step": None,
    "per": None,
    "sensor": (),
    "property": (),
    "feature": (),
    "lateness": 0,
    "late": "admit",
    "time": "event",
    "clock": "wall",
    "zone": None,
    "limit": None,
    "overflow": "end",
    "bounds": False,
}
"""Every member in order, with what it is where it is not given."""

IRIS = ("sensor", "property", "feature")
LENGTHS = ("range", "step", "lateness")
"""Durations, beside a range; a counted window has a count for its step and no lateness."""
SIZES = ("range", "triples", "elements")
CHOICES = {
    "late": ("admit", "drop"),
    "time": ("event", "arrival"),
    "clock": ("wall", "stream"),
    "overflow": ("end", "oldest"),
}
NOT_YET = {
    "gap": "windows by gaps are not offered yet; declare a range",
    "offset": "an offset of boundaries is not offered yet; they are multiples of the step from "
    "the epoch, or with a zone from its midnight",
}

_MOST = 1_000_000_000
"""What counts more than this is a slip of the pen."""


def normal(member: str, value: Any, is_timed: bool) -> Any:
    """The value of a member in its one form; raises WindowError where it is none."""
    if member in IRIS:
        return _iris(member, value)
    if member == "stream":
        return iri(member, value)
    if member == "bounds":
        return _boolean(member, value)
    if member == "lateness":
        return _duration(member, value)
    if member in CHOICES:
        return _choice(member, value, CHOICES[member])
    return None if value is None else _optional(member, value, is_timed)


def iri(member: str, value: object) -> str:
    """An absolute IRI; raises WindowError where it is none."""
    try:
        if isinstance(value, str):
            return NamedNode(value).value
    except ValueError:
        pass
    raise WindowError(member, f"{_shown(value)} is no absolute IRI", "write it out")


def check(window: "Window") -> None:
    """Raise WindowError where members do not go together."""
    sizes = [each for each in SIZES if getattr(window, each) is not None]
    if len(sizes) != 1:
        reason = f"{' and '.join(sizes)} beside each other" if sizes else "how much does it see?"
        raise WindowError(sizes[0] if sizes else "range", reason, f"give one of {_either(SIZES)}")
    if window.range is None:
        _check_counted(window, sizes[0])
    else:
        _check_timed(window)
    if window.bounds and window.step is None:
        raise WindowError("bounds", "a continuous window has none", "give a step, or leave it out")


def _check_timed(window: "Window") -> None:
    if window.per is not None:
        raise WindowError("per", "is for windows by elements", "leave it out")
    if window.late == "drop" and not window.lateness:
        raise WindowError("late", "drop would drop whatever comes", "give a lateness beside it")
    if window.zone is None:
        return
    if window.step is None:
        raise WindowError("zone", "a continuous window has no boundaries", "give a step")
    if window.step > DAY_US and window.step % DAY_US:
        hint = "give whole days, or less than a day"
        raise WindowError("step", "within a zone it is neither days nor a part of one", hint)


def _check_counted(window: "Window", size: str) -> None:
    if window.per is not None and size != "elements":
        raise WindowError("per", f"a window by {size} is one for its stream", "give elements")
    if window.limit is not None and window.per is None:
        raise WindowError("limit", f"{size} is its limit", "leave it out")
    timed = {
        "lateness": window.lateness != 0,
        "late": window.late != "admit",
        "time": window.time != "event",
        "clock": window.clock != "wall",
        "zone": window.zone is not None,
        "bounds": window.bounds,
    }
    for member in (each for each, is_given in timed.items() if is_given):
        reason = f"a window by {size} has no clock: it sees them as they come"
        raise WindowError(member, reason, "leave it out, or give a range")


def _optional(member: str, value: Any, is_timed: bool) -> Any:
    if member == "zone":
        return _zone(member, value)
    if member == "per":
        return _choice(member, value, ("stream",))
    if member == "range" or (member == "step" and is_timed):
        length = _duration(member, value)
        if not length:
            raise WindowError(member, "is nothing", 'such as "PT10M"')
        return length
    return _count(member, value)


def _duration(member: str, value: Any) -> int:
    try:
        return duration(value)
    except ValueError as error:
        raise WindowError(member, str(error)) from None


def _count(member: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST:
        return value
    raise WindowError(member, f"{_shown(value)} is no whole number from 1 on", "such as 100")


def _boolean(member: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise WindowError(member, f"{_shown(value)} is neither true nor false")


def _choice(member: str, value: object, choices: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in choices:
        return value
    raise WindowError(member, f"{_shown(value)} is not to be had", f"give {_either(choices)}")


def _zone(member: str, value: object) -> str:
    try:
        if isinstance(value, str):
            return ZoneInfo(value).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    raise WindowError(member, f"{_shown(value)} is no time zone here", 'such as "Europe/Berlin"')


def _iris(member: str, value: object) -> tuple[str, ...]:
    """Sorted and each once; one text is one IRI."""
    if isinstance(value, str):
        return (iri(member, value),)
    if isinstance(value, Iterable) and not isinstance(value, dict | bytes):
        return tuple(sorted({iri(member, each) for each in value}))
    raise WindowError(member, f"{_shown(value)} is no list of IRIs")


def _either(choices: Iterable[str]) -> str:
    return " or ".join(choices)


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
