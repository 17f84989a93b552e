"""What is counted of windows and of the automata over them, by the names of windows."""

from collections import Counter
from collections.abc import Mapping
from functools import partial

from gateway.engine.windowed.windowed_view import WindowedView
from gateway.runtime.measures import Measure

_COUNTERS = (
    ("window_late", "late", "elements told of a time that was over"),
    ("window_dropped", "dropped", "elements that never entered"),
    ("window_expired", "expired", "elements that left"),
    ("window_full", "full", "windows that held more than they may"),
    ("automaton_matches", "matches", "matches of conjunctive queries"),
)


def window_measures(view: WindowedView) -> tuple[Measure, ...]:
    """Sizes now, counts since the start; asked in any thread."""
    clock, streams = view.clock, view.streams
    return (
        *(
            Measure(name, what, partial(view.counts.total, counted), label="window")
            for name, counted, what in _COUNTERS
        ),
        _now("window_elements", "elements in windows", partial(_held, view, 0)),
        _now("window_bytes", "bytes held for windows, by estimate", partial(_held, view, 1)),
        _now("automaton_patterns", "patterns looked for", partial(_automata, view, "patterns")),
        _now("automaton_plans", "plans that complete them", partial(_automata, view, "plans")),
        Measure(
            "window_lag_seconds",
            "how late the last step was that time asked for",
            lambda: view.streams.lag / 1e6,
            is_counter=False,
        ),
        Measure("clock_jumps", "times the wall clock was set", lambda: clock.jumps),
        Measure(
            "stream_elements", "elements that windows saw", lambda: streams.arrived, label="stream"
        ),
    )


def _now(name: str, what: str, read: "partial[Mapping[str, float]]") -> Measure:
    return Measure(name, what, read, is_counter=False, label="window")


def _held(view: WindowedView, part: int) -> Mapping[str, float]:
    found: Counter[str] = Counter()
    for name, content in view.counts.open():
        found[name] += content.held[part]
    return found


def _automata(view: WindowedView, what: str) -> Mapping[str, float]:
    found: Counter[str] = Counter()
    for name, content in view.counts.open():
        automaton = view.automata.of(content)
        found[name] += 0 if automaton is None else getattr(automaton, what)
    return found
