"""`ObservationElements`: accepted observations as elements of the streams that windows see.

    Record -> Element -> gw:observations, and the stream of each mapping that names its sensor

Place on the way of the data: beside the UPDATE of a message, in whose step its observations enter,
those too that come too late for the store. The triples are those of the profile's template,
without its graphs. Made when the step is made, and only where somebody has a window.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from pyoxigraph import Triple

from adapters.values.observation import StreamKey
from gateway.ingest.observed_terms import ObservedTerms
from gateway.ingest.sosa import ObservationTemplates, Said, said
from gateway.ingest.windows.observed_triples import Lately, ObservedTriples, Recipe
from gateway.ingest.windows.stream_names import MappedStreams
from gateway.ingest.windows.template_triples import TemplateTriples
from gateway.journal import Position, Record
from gateway.journal.record import micros
from gateway.rdf.terms import GraphName
from gateway.store.update import BoundUpdate
from gateway.windows import Element

Wants = Callable[[str], bool]
"""Whether somebody has a window of a stream."""

_STAMPS = ("phenomenonStamp", "resultTime", "ingestedAt")
"""What `ObservationTemplates` gives as times, in the form of the store."""

_TEXTS = 16
_KEYS = 50_000
_UNKNOWN = object()


class ObservationElements:
    """Makes elements; `entered` is the position of the last record that had its step.

    `streams` is replaced when the mappings change. All but that is for one thread at a time.
    """

    def __init__(self, streams: MappedStreams | None = None) -> None:
        self.streams = streams or MappedStreams()
        self.entered: Position | None = None
        self._noted: list[list[Record]] = []
        self._triples: dict[str, TemplateTriples] = {}
        self._recipes: dict[tuple[ObservationTemplates, str], Recipe | None] = {}
        self._keys: dict[StreamKey, StreamKey] = {}
        self._lately: Lately = {}
        """What the step that is made now writes to the store, whose terms windows need too."""

    def entering(
        self,
        records: Sequence[Record],
        templates: ObservationTemplates,
        wants: Wants,
        written: Sequence[BoundUpdate] = (),
    ) -> Mapping[str, Sequence[Element]]:
        """The elements of one step, by stream, and note that they have had it.

        What a broker had kept of unknown age is none. `written`: what the step writes of them.
        """
        self.entered = records[-1].position
        for noted in self._noted:
            noted.extend(records)
        return self.by_stream(records, templates, wants, written)

    @contextmanager
    def noting(self) -> Iterator[list[Record]]:
        """A list of the records that have their step while this lasts; in any thread."""
        noted: list[Record] = []
        self._noted = [*self._noted, noted]
        try:
            yield noted
        finally:
            self._noted = [each for each in self._noted if each is not noted]

    def by_stream(
        self,
        records: Iterable[Record],
        templates: ObservationTemplates,
        wants: Wants,
        written: Sequence[BoundUpdate] = (),
    ) -> Mapping[str, Sequence[Element]]:
        """The elements of records by the streams that somebody wants, in order; as `entering`."""
        found: dict[str, list[Element]] = {}
        known: Mapping[tuple[int, int], Said] | None = None
        for record in records:
            seen, position = record.observation, record.position
            stream = self._known(seen.stream)
            names = [name for name in self.streams.of(stream) if wants(name)]
            if names and not seen.circumstances.seed:
                if known is None:
                    known = self._learn(written)
                told = known.get((position.epoch, position.sequence)) or said(record, stream)
                element = self._element(record, templates, told, stream)
                for name in names:
                    found.setdefault(name, []).append(element)
        return found

    def _learn(self, written: Sequence[BoundUpdate]) -> Mapping[tuple[int, int], Said]:
        """What observations say that are written now, by position; note their terms."""
        known: dict[tuple[int, int], Said] = {}
        self._lately.clear()
        for _, terms in written:
            if type(terms) is ObservedTerms:
                told = terms.told
                known[told.epoch, told.sequence] = told
                self._lately[id(told)] = terms
        return known

    def element(self, record: Record, templates: ObservationTemplates) -> Element:
        """One observation."""
        stream = self._known(record.observation.stream)
        return self._element(record, templates, said(record, stream), stream)

    def _element(
        self, record: Record, templates: ObservationTemplates, told: Said, key: StreamKey
    ) -> Element:
        recipe = self._recipe(told, templates) if templates.is_observed_alone(record) else None
        arrival, is_ours = micros(told.ingested_at), told.time is told.ingested_at
        time = arrival if is_ours else micros(told.time)
        if recipe is not None:
            return Element(ObservedTriples(recipe, told), time, key, told.unit, is_ours, arrival)
        triples, size = self._made(record, templates)
        return Element(triples, time, key, told.unit, is_ours, arrival, size)

    def _known(self, key: StreamKey) -> StreamKey:
        """The same object for equal ones, as every element keeps its own."""
        if len(self._keys) >= _KEYS:
            self._keys.clear()
        return self._keys.setdefault(key, key)

    def _recipe(self, told: Said, templates: ObservationTemplates) -> Recipe | None:
        """How its triples are made when they are asked for; None where they have to be made now."""
        text = templates.text(told)
        found = self._recipes.get((templates, text), _UNKNOWN)
        if found is None or isinstance(found, Recipe):
            return found
        recipe = Recipe(self._of(text), templates, told, self._lately)
        if len(self._recipes) >= _TEXTS:
            self._recipes.clear()
        found = self._recipes[templates, text] = recipe if recipe.is_exact() else None
        return found

    def _made(
        self, record: Record, templates: ObservationTemplates
    ) -> tuple[tuple[Triple, ...], int]:
        """The triples of a record and the size of their text."""
        triples: tuple[Triple, ...] = ()
        size = 0
        for plan, bindings in templates.observed(record):
            template = self._of(plan.text)
            triples += template.of(bindings)
            size += template.size(bindings)
        return triples, size

    def written(self, stream: str, templates: ObservationTemplates) -> frozenset[GraphName] | None:
        """The graphs that a stream of observations is written to; None: it is another stream.

        There is none where a template has a variable for one: it may be any.
        """
        if stream not in self.streams:
            return None
        found = [self._of(text) for text in templates.texts]
        if not all(each.is_named for each in found):
            return frozenset()
        return frozenset[GraphName]().union(*[each.graphs for each in found])

    def _of(self, text: str) -> TemplateTriples:
        found = self._triples.get(text)
        if found is None:
            if len(self._triples) >= _TEXTS:
                self._triples.clear()
            found = self._triples[text] = TemplateTriples.parse(text, _STAMPS)
        return found
