"""The settings of windows over streams: [windows] of gateway.toml (docs/windows.md).

Place: a section of `gateway.config.settings`, of which it knows nothing.
"""

from typing import Annotated

from pydantic import Field

from gateway.config.values import Count, Section
from gateway.scheduler.limits import TICK_MS
from gateway.windows import WindowLimits
from gateway.windows.window_clock import JUMP_S

_LIMITS = WindowLimits()


class WindowsSettings(Section):
    """What all windows together may hold, and by which clock they go on.

    `elements` and `bytes` (an estimate) bound them. What time alone changes is told at most once
    in `tick_ms`. A wall clock that is off by more than `jump_s` has jumped: windows follow it.
    """

    elements: Count = _LIMITS.elements
    bytes: Count = _LIMITS.bytes
    tick_ms: Annotated[int, Field(ge=10, le=60_000)] = TICK_MS
    jump_s: Annotated[float, Field(ge=0.1, le=86_400, allow_inf_nan=False)] = JUMP_S

    def limits(self) -> WindowLimits:
        """The bounds in the form that the engine takes."""
        return WindowLimits(self.elements, self.bytes)
