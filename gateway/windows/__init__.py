"""Streams and windows over them, as synchronous values: what each window has after each step.

    Element → Streams.step(now, arrived) → Change of each Content that changed

Place on the way of the data: beside the store, behind whoever makes elements, in the thread that
writes. Nothing here reads a clock.
"""

from gateway.windows.before.filling import Filling
from gateway.windows.content import Change, Content
from gateway.windows.element import Element
from gateway.windows.info import WindowInfo, WindowLimits
from gateway.windows.streams import Streams
from gateway.windows.window import OUTPUTS, Window, parse_windows
from gateway.windows.window_clock import WindowClock

__all__ = [
    "OUTPUTS",
    "Change",
    "Content",
    "Element",
    "Filling",
    "Streams",
    "Window",
    "WindowClock",
    "WindowInfo",
    "WindowLimits",
    "parse_windows",
]
