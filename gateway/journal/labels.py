"""`Labels`: what things are called, which the headers of segments tell the archive.

Place on the way of the data: between the store, which is asked beside ingest, and the header of the
next raw segment (docs/segments.md, "Content").
"""

import json
from collections.abc import Callable, Mapping

MOST_BYTES = 32_768
"""Of one header: a reader looks for its end in the first 64 KiB."""

_LONGEST = 1_000

Ask = Callable[[], Mapping[str, str]]
"""Labels by IRI, as they are now. May raise a GatewayError."""


class Labels:
    """Asked by one thread, told by another; `source` is set when the store can be asked."""

    def __init__(self) -> None:
        self.source: Ask = dict
        self._known: Mapping[str, str] = {}
        self._last = ""

    def ask(self) -> None:
        """Know what things are called now; raises what the source raises."""
        told = self.source()
        self._known = {iri: label for iri, label in told.items() if _is_short(iri, label)}

    def next_ones(self) -> dict[str, str]:
        """As many as fit into a header, in turn: the next header goes on behind them.

        >>> labels = Labels()
        >>> labels.source = lambda: {"urn:lamp": "the lamp"}
        >>> labels.ask()
        >>> labels.next_ones()
        {'urn:lamp': 'the lamp'}
        """
        told: dict[str, str] = {}
        room, known = MOST_BYTES, self._known
        order = sorted(known, key=lambda iri: (iri <= self._last, iri))
        for iri in order:
            room -= len(json.dumps({iri: known[iri]}, ensure_ascii=False).encode(errors="replace"))
            if room < 0:
                break
            told[iri] = known[iri]
            self._last = iri
        return told


def _is_short(iri: str, label: str) -> bool:
    return len(iri) + len(label) <= _LONGEST
