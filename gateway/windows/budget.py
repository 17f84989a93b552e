"""`Budget`: what all windows together hold, and the clock of their last step."""

from gateway.errors import WindowFullError
from gateway.windows.durations import SECOND_US
from gateway.windows.info import WindowLimits
from gateway.windows.window import Window


class Budget:
    """Elements and bytes, counted by those who hold them.

    `now`: the clock of the last step, µs, whomever that concerned; None: there was none.
    """

    __slots__ = ("bytes", "elements", "limits", "now")

    def __init__(self, limits: WindowLimits) -> None:
        self.limits = limits
        self.elements = 0
        self.bytes = 0
        self.now: int | None = None

    def is_exceeded(self) -> bool:
        """Whether more is held than may be."""
        return self.elements > self.limits.elements or self.bytes > self.limits.bytes

    def error(self, window: Window) -> WindowFullError:
        """What the subscribers of the window are told that would exceed it."""
        if self.elements > self.limits.elements:
            return _full(window, self.limits.elements, "elements of all windows", "elements")
        return _full(window, self.limits.bytes, "bytes of all windows", "bytes")


def overfilled(window: Window, per_second: float, limits: WindowLimits) -> str:
    """Why, at so many elements a second, and "" where it will not, or has no range.

    >>> overfilled(Window("urn:s", "PT10H"), 50, WindowLimits())
    'at 50 elements a second PT10H will be 1800000, of 1000000 that it may have'
    """
    if window.range is None:
        return ""
    most = limits.elements if window.limit is None else min(window.limit, limits.elements)
    expected = int(per_second * window.range / SECOND_US)
    if expected <= most:
        return ""
    length = window.size().partition(" ")[2]
    return (
        f"at {per_second:.3g} elements a second {length} will be {expected}, "
        f"of {most} that it may have"
    )


def limit_error(window: Window) -> WindowFullError:
    """What the subscribers of a window beyond its own limit are told."""
    return WindowFullError(_name(window), window.limit or 0, "elements", "its limit")


def _full(window: Window, limit: int, what: str, setting: str) -> WindowFullError:
    return WindowFullError(_name(window), limit, what, f"[windows] {setting}")


def _name(window: Window) -> str:
    return f"the window of <{window.stream}> by {window.size()}"
