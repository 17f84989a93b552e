"""`Opened`: the windows that SPUs have, each by the name that its subscription calls it.

    declarations -> Streams.open, with what came before -> contents by name

Place: under `WindowedView`, which asks for them and closes them.
"""

import logging
from collections.abc import Callable, Iterator, Mapping

from pyoxigraph import NamedNode

from gateway.engine.options import EngineOptions
from gateway.engine.spu import Spu, Subject
from gateway.engine.windowed.names import Names
from gateway.engine.windowed.window_counts import WindowCounts
from gateway.engine.windowed.windowed_processing import Contents
from gateway.engine.windowed.windowed_source import View
from gateway.errors import WindowError
from gateway.rdf.namespaces import OWN_GRAPHS
from gateway.store.quad_store import QuadStore
from gateway.windows.before.filling import Filling
from gateway.windows.content import Content
from gateway.windows.streams import Streams
from gateway.windows.window import Window
from gateway.windows.window_clock import WindowClock

log = logging.getLogger(__name__)

Fillings = Mapping[Window, Filling]
"""What is still to be put into windows that are opened."""

NOT_FILLED: Fillings = {}


class Opened:
    """`streams` has them, `clock` moves them. `begins_empty` knows a stream that was nothing before
    the engine; it is to be replaced where a stream may have been.

    `matches` counts what an automaton found in one, `inferring` those who have them with `infer`.
    """

    def __init__(
        self, store: QuadStore, options: EngineOptions, matches: Callable[[Content], int]
    ) -> None:
        self.streams = Streams(options.windows)
        self.clock = WindowClock(store.clock, options.steady_clock, jump_s=options.jump_s)
        self.begins_empty: Callable[[str], bool] = lambda _: True
        self.names = Names(store)
        self.of: dict[Spu, Contents] = {}
        self.inferring = 0
        self.counts = WindowCounts(self._counted, lambda name: name in self.names.declared.windows)
        self._matches = matches

    def keep(self, spu: Spu, contents: Contents) -> None:
        """From now on an SPU has these."""
        self.of[spu] = contents
        self.inferring += spu.subject.infer
        self.counts.opened(_named(contents))
        self.names.opened(contents)

    def release(self, spu: Spu) -> None:
        """The reverse of `keep`, and of `open`."""
        contents = self.of.pop(spu)
        self.inferring -= spu.subject.infer
        self.counts.closed(_named(contents))
        self.names.closed(contents)
        self.close(contents)

    def open(self, subject: Subject, view: View, fillings: Fillings = NOT_FILLED) -> Contents:
        """The windows of a subject beside a view, as after the last step.

        Raises WindowError for a window with the name of a graph of the view or of the gateway's
        own, which QUERYs and UPDATEs name before they have quads; WindowFullError.
        """
        for node in names_of(subject):
            if node in OWN_GRAPHS or view.contains_graph(node):
                raise WindowError(
                    f"the window {node.value} has the name of a graph of the store",
                    "give it an IRI of its own",
                )
        now, due = self.now(), self.streams.next_due()
        if due is not None and due <= now:
            now = due - 1  # as everybody was told: the next step tells what is due by now
        opened: dict[NamedNode, Content] = {}
        try:
            for iri, window in subject.windows:
                opened[NamedNode(iri)] = self._open(window, now, fillings.get(window))
        except Exception:
            self.close(opened)
            raise
        return opened

    def now(self) -> int:
        """The clock of windows, µs; what it jumped while nobody had any, no step has noted."""
        if self.of:
            return self.clock.now()
        now, jumped = self.clock.reading()
        if jumped:
            log.warning("clock_jumped", extra={"by_s": jumped / 1e6})
            self.streams.jumped(jumped)
        return now

    def _open(self, window: Window, now: int, filling: Filling | None) -> Content:
        if filling is None or self.streams.is_open(window):
            stream = window.stream
            knows_all = self.begins_empty(stream) and not self.streams.has_begun(stream)
            return self.streams.open(window, now, complete_since=0 if knows_all else None)
        return self.streams.open_filling(filling, now)

    def close(self, contents: Contents) -> None:
        """The reverse of `open`."""
        for content in contents.values():
            self.streams.close(content)

    def _counted(self, content: Content) -> dict[str, int]:
        told = {"late": content.late, "dropped": content.dropped, "expired": content.expired}
        return {**told, "matches": self._matches(content)}


def names_of(subject: Subject) -> list[NamedNode]:
    """What a subject calls its windows."""
    return [NamedNode(iri) for iri, _ in subject.windows]


def _named(contents: Contents) -> Iterator[tuple[str, Content]]:
    return ((node.value, each) for node, each in contents.items())
