"""What windows there are, what they have, and which streams clients may let elements into.

Place: asked by /windows and `sosa-gateway windows`; reads the engine in the scheduler's turn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.engine import Engine
from gateway.engine.windowed.declared import Declared
from gateway.engine.windowed.window_status import WindowStatus
from gateway.windows.info import WindowLimits


@dataclass(frozen=True, slots=True)
class WindowsState:
    """`windows` are those that somebody sees; `held` elements and bytes in all, of `limits`.

    `streams` are those that are declared or were seen, with the elements that windows saw of them.
    """

    windows: Sequence[WindowStatus]
    declared: Declared
    streams: Mapping[str, int]
    held: WindowLimits
    limits: WindowLimits
    clock_jumps: int


def windows_state(engine: Engine) -> WindowsState:
    """The state now; linear in what windows hold."""
    view = engine.windowed
    streams = view.streams
    counted = {**dict.fromkeys(view.declared.streams, 0), **streams.arrived}
    return WindowsState(
        view.statuses(),
        view.declared,
        dict(sorted(counted.items())),
        WindowLimits(streams.elements, streams.bytes),
        streams.limits,
        view.clock.jumps,
    )
