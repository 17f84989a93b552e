"""Windows by HTTP: what there is, what each has now, and what all may hold; docs/windows.md.

For who has the capability for operations: the counts are about what all clients do.
"""

from typing import Annotated, Any

from fastapi import Depends
from pydantic import Field

from gateway.admin.windows import WindowsState, windows_state
from gateway.engine.windowed.window_status import WindowStatus
from gateway.gates.http.dependencies import GateOf, Requires
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.scheduler.scheduler import Scheduler
from gateway.security.policy import Capability
from gateway.windows.info import date_time

PATH = "/windows"

_TIME = Field(description="xsd:dateTime; null: of nothing")


class AutomatonTold(Answer):
    """Patterns looked for, plans that complete them, matches since it is there."""

    patterns: int
    plans: int
    matches: int


class WindowTold(Answer):
    """A window that somebody sees: its declaration, who sees it, and what it has now.

    `names` are the IRIs that subscriptions call it by. `late`, `dropped` and `expired` elements are
    counted since it was opened.
    """

    window: dict[str, Any]
    names: list[str]
    subscriptions: int
    spus: int
    elements: int
    triples: int
    bytes: int
    begin: Annotated[str | None, _TIME] = Field(serialization_alias="from")
    end: Annotated[str | None, _TIME] = Field(serialization_alias="to")
    complete: bool
    oldest: Annotated[str | None, _TIME]
    watermark: Annotated[str | None, _TIME]
    late: int
    dropped: int
    expired: int
    warning: str = Field(description="what will be wrong if elements go on to come so")
    automaton: AutomatonTold

    @classmethod
    def of(cls, status: WindowStatus) -> "WindowTold":
        """As JSON."""
        info = status.info
        automaton = AutomatonTold(
            patterns=status.patterns, plans=status.plans, matches=status.matches
        )
        return cls(
            window=status.window.members(),
            names=list(status.names),
            subscriptions=status.subscriptions,
            spus=status.spus,
            elements=info.elements,
            triples=info.triples,
            bytes=info.bytes,
            begin=date_time(info.from_),
            end=date_time(info.to),
            complete=info.complete,
            oldest=date_time(info.oldest),
            watermark=date_time(info.watermark),
            late=info.late,
            dropped=info.dropped,
            expired=info.expired,
            warning=info.warning,
            automaton=automaton,
        )


class StreamCounted(Answer):
    """A stream that is declared, or that a window has seen; `elements` are those that it saw."""

    stream: str
    declared: bool
    elements: int


class HeldTold(Answer):
    """Elements, and bytes by estimate."""

    elements: int
    bytes: int


class WindowsTold(Answer):
    """All windows; `declared` are those with names of their own, seen by somebody or not."""

    windows: list[WindowTold]
    declared: dict[str, dict[str, Any]]
    streams: list[StreamCounted]
    held: HeldTold
    limits: HeldTold
    clock_jumps: int

    @classmethod
    def of(cls, state: WindowsState) -> "WindowsTold":
        """As JSON."""
        declared, held, limits = state.declared, state.held, state.limits
        return cls(
            windows=[WindowTold.of(each) for each in state.windows],
            declared={iri: each.members() for iri, each in sorted(declared.windows.items())},
            streams=[
                StreamCounted(stream=iri, declared=iri in declared.streams, elements=elements)
                for iri, elements in state.streams.items()
            ],
            held=HeldTold(elements=held.elements, bytes=held.bytes),
            limits=HeldTold(elements=limits.elements, bytes=limits.bytes),
            clock_jumps=state.clock_jumps,
        )


class WindowsGate:
    """The endpoint /windows."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    async def told(self) -> WindowsTold:
        """The state now."""
        return WindowsTold.of(await self._scheduler.look(windows_state))


router = JsonRouter(Requires(Capability.OPERATIONS))

_Gate = Annotated[WindowsGate, Depends(GateOf(WindowsGate))]


@router.get(PATH, "windows, and streams of clients", "declarations, what is held, automata")
async def show_windows(gate: _Gate) -> WindowsTold:
    """What nobody sees holds nothing."""
    return await gate.told()
