"""`Notification`: what one UPDATE changed in one subscription's answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta, Solution, solution
from gateway.windows.info import WindowInfo


class EventRows(NamedTuple):
    """A compound event that a query answered with so many `rows`: graph, gateway, place, time.

    `graph` is the IRI of its graph, `position` the text of an EventPosition of that gateway, `time`
    is in µs since the epoch.
    """

    graph: str
    gateway: str
    position: str
    time: int
    rows: int


class Federated(NamedTuple):
    """Where gateways stood, by their ids: `positions` are texts of EventPositions.

    Of a gateway with a `gap`, the events behind the first of its two positions up to the second are
    not known any more. Who is `missing` has not told yet what the query needs, who is `stale` is
    away since a time, µs since the epoch. `merged`: several requests of a gateway are told as one.
    """

    positions: Mapping[str, str]
    gap: Mapping[str, tuple[str, str]] | None = None
    missing: Sequence[str] = ()
    stale: Mapping[str, int] | None = None
    merged: bool = False


class Notification(NamedTuple):
    """Rows added and removed since the previous notification of this subscription.

    `sequence` counts from 0 (the first answer) without a gap; `time` is the engine's clock at
    the UPDATE, µs since the Unix epoch; `form` is SELECT, ASK or CONSTRUCT. An ASK that is true
    has one empty solution, a CONSTRUCT row is `subject`, `predicate`, `object`. The first of a
    subscription over `windows` says of each, by IRI, what it has. In mode `event` the added rows
    are those of `events`, one behind another, and nothing is ever removed. `federation` says where
    gateways stood, of a first one where events are kept.

    A tuple, since an element that enters a window may make dozens of them in microseconds.
    """

    spuid: str
    sequence: int
    alias: str | None
    time: int
    results: ResultsDelta
    form: str = "SELECT"
    windows: Mapping[str, WindowInfo] | None = None
    events: Sequence[EventRows] | None = None
    federation: Federated | None = None

    @property
    def added(self) -> Sequence[Solution]:
        """The added solutions, a bag: equal ones are repeated."""
        return [solution(self.results.variables, row) for row in self.results.added]

    @property
    def removed(self) -> Sequence[Solution]:
        """The removed solutions, a bag: equal ones are repeated."""
        return [solution(self.results.variables, row) for row in self.results.removed]


class SharedNotification(NamedTuple):
    """What changed in an answer, for all who share it and have listeners of their own.

    It is the same object for all of them, and says nothing of any: each is told one after another
    without a gap, the first behind its sequence 0 being its sequence 1. `time`, `results` and
    `form` are those of a Notification.
    """

    time: int
    results: ResultsDelta
    form: str


SharedListener: TypeAlias = Callable[[SharedNotification], None]


class Told(NamedTuple):
    """Notifications of subscriptions, and those that several share, with their listeners.

    `deliveries`: how often somebody is told.
    """

    notifications: Sequence[Notification] = ()
    shared: Sequence[tuple[SharedNotification, Sequence[SharedListener]]] = ()
    deliveries: int = 0


class Outcome(NamedTuple):
    """What an UPDATE did: its net change and whom it concerned. `time` is µs since the epoch.

    `notifications` are those that no listener was told, `shared` those of listeners that
    subscriptions have of their own. `id` is that of a delayed UPDATE: the change is that of
    delaying or of executing it. `due` is when one that was delayed just now is to be executed, µs
    since the epoch.

    A tuple, as each element that enters a stream has one.
    """

    delta: Delta
    notifications: tuple[Notification, ...]
    time: int
    id: str | None = None
    due: int | None = None
    shared: Sequence[tuple[SharedNotification, Sequence[SharedListener]]] = ()
