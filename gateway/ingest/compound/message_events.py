"""`MessageEvents`: what the observation templates state of a message, as a compound event.

    records of one message -> quads of their templates -> an event for each graph

Place on the way of the data: beside the UPDATE of a message, in whose step it is told; and behind
the journal, from which it is made again. Those observations count too that come too late for the
store: so journal and live agree (docs/events.md).
"""

from collections.abc import Callable, Sequence

from pyoxigraph import NamedNode, Quad

from gateway.engine.request import MessageEvent
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.ingest.windows.template_triples import inserted
from gateway.journal import Position, Record
from gateway.journal.event_position import EventPosition
from gateway.journal.record import micros
from gateway.sparql.parser import parse_update
from gateway.store.templates import Bindings, QuadTemplate, variables
from gateway.store.where import canonical_bindings

_TEXTS = 16


class MessageEvents:
    """Makes them; `templates` gives the templates of now. For one thread at a time."""

    def __init__(self, identity: Identity, templates: Callable[[], ObservationTemplates]) -> None:
        self._identity = identity
        self._templates = templates
        self._stating: dict[str, _Stating] = {}

    def of(self, records: Sequence[Record]) -> MessageEvent:
        """The event of a message, by its records in journal order, at least one."""
        templates = self._templates()
        quads: dict[Quad, None] = {}
        for record in records:
            for plan, bindings in templates.observed(record):
                quads.update(dict.fromkeys(self._of(plan.text).quads(bindings)))
        last = records[-1]
        message = Position(last.position.epoch, last.message)
        iri = NamedNode(self._identity.message(message))
        time = micros(last.ingested_at)
        return MessageEvent(EventPosition.of(last.position), iri, time, tuple(quads))

    def _of(self, text: str) -> "_Stating":
        found = self._stating.get(text)
        if found is None:
            if len(self._stating) >= _TEXTS:
                self._stating.clear()
            found = self._stating[text] = _Stating(text)
        return found


class _Stating:
    """The INSERT templates of one text."""

    def __init__(self, text: str) -> None:
        quads = [quad for each in parse_update(text).operations for quad in inserted(each)]
        self._columns = tuple(variables(quads))
        self._template = QuadTemplate(quads, self._columns)

    def quads(self, bindings: Bindings) -> Sequence[Quad]:
        """What they state; what has a variable that is not bound is left out."""
        known = canonical_bindings(bindings)
        row = tuple(map(known.get, self._columns))
        return self._template.instantiate((row,))
