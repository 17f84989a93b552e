"""`overfilled`: whether a range will hold more than it may, told before it does.

Place: asked by a window that is not complete yet, and by who checks declarations by the journal.
"""

from gateway.windows.durations import SECOND_US
from gateway.windows.info import WindowLimits
from gateway.windows.window import Window


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
