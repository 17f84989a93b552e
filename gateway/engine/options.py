"""`EngineOptions`: how an engine works, beyond its store and who hears of it."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.engine.compile import (
    EntailedCompiler,
    OracleCompiler,
    TierCompiler,
    UnfilteredCompiler,
)
from gateway.engine.limits import UNLIMITED, Limits
from gateway.engine.performance import Performance
from gateway.engine.processing import MakeCompiler
from gateway.engine.workers.worker_link import Link, ProcessLink
from gateway.engine.workers.workers import ARTQ
from gateway.reasoning.reasoning import Reasoning
from gateway.store.clock import microseconds
from gateway.windows.info import WindowLimits
from gateway.windows.window_clock import JUMP_S, steady_microseconds

DEFAULT_WINDOWS = WindowLimits()


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """`clock` gives µs since the Unix epoch; `limits` are for the first answer of a subscription.

    With `oracle`, every query is evaluated again after every update: slow and simple. Without
    `lutt`, every SPU is given every Delta: what the LUTTs are worth. `performance` is told where
    the time of each update goes; it is for engines without workers. No worker has more than `artq`
    UPDATEs to do, and `launch` starts one. `reasoning` says what is reasoned on; None is nothing.

    `steady` gives µs that never jump, by which windows go on; a clock of one's own is that as well,
    where nothing else is given. Where they differ by more than `jump_s` anew, windows follow the
    clock. `windows` bounds what all of them hold.
    """

    clock: Callable[[], int] = microseconds
    oracle: bool = False
    lutt: bool = True
    performance: Performance | None = None
    limits: Limits = UNLIMITED
    artq: int = ARTQ
    launch: Callable[[], Link] = ProcessLink
    reasoning: Reasoning | None = None
    steady: Callable[[], int] | None = None
    jump_s: float = JUMP_S
    windows: WindowLimits = DEFAULT_WINDOWS

    @property
    def steady_clock(self) -> Callable[[], int]:
        """What windows go on by."""
        if self.steady is not None:
            return self.steady
        return steady_microseconds if self.clock is microseconds else self.clock

    @property
    def compiler(self) -> MakeCompiler:
        """What chooses the units of subscribed queries."""
        if self.oracle:
            return OracleCompiler
        return TierCompiler if self.lutt else UnfilteredCompiler

    @property
    def entailed_compiler(self) -> MakeCompiler:
        """The same for those of the entailed view."""
        return EntailedCompiler if self.compiler is TierCompiler else self.compiler


DEFAULT_OPTIONS = EngineOptions()
