"""`ObservedTriples`: the triples of an observation, made when a window is asked for them.

    what an observation says -> Recipe of its template -> triples of wanted predicates

Place: in the elements of observations. Nearly all triples of the usual templates have the IRI of
the observation, of its result or of its instant, which no other observation has; of these a window
needs what its subscriptions look at, often two in twenty.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType

from pyoxigraph import Literal, NamedNode, Triple, Variable

from adapters.values.observation import StreamKey
from gateway.ingest.observed_terms import ObservedTerms
from gateway.ingest.sosa import MINTED, ObservationTemplates, Said
from gateway.ingest.windows.template_triples import TemplateTriples
from gateway.rdf.canonical import canonical
from gateway.rdf.terms import Term
from gateway.sparql.algebra import QuadPattern
from gateway.windows.parted import HELD_BYTES, MADE_BYTES, Ask, Parted, Predicates, Spo

Lately = dict[int, ObservedTerms]
"""Terms that are being written to the store, by the `id` of what their observation says."""

_NOTHING: Mapping[int, ObservedTerms] = MappingProxyType({})
_REMEMBERED = 10_000
_PARTS = 64
_ASKS = 4096

_Needed = tuple[tuple[tuple[str, ...], str], ...]
"""One of these names has to be this IRI, and so with each."""

_STREAM: Mapping[str, Callable[[Said], str]] = {
    "sensor": lambda told: told.sensor,
    "property": lambda told: told.observed_property,
    "feature": lambda told: told.feature,
}
"""Names that have one value in all observations of a stream, and the IRI that this is."""


class Recipe:
    """How the triples of observations are made that one template writes; `text` is its text.

    To be used where `is_exact` says that it makes as many as the template has. `lately` has terms
    that are made already, of observations that are kept meanwhile.
    """

    def __init__(
        self,
        template: TemplateTriples,
        templates: ObservationTemplates,
        example: Said,
        lately: Mapping[int, ObservedTerms] = _NOTHING,
    ) -> None:
        self._lately = lately
        self.text = templates.text(example)
        self.whole = template
        self._templates = templates
        self._example = example
        self._all = self._part(template)
        self._shared = template.part(lambda quad: not _is_minted(quad))
        self._unique = template.part(_is_minted)
        self.unique_count = len(self._unique)
        self._parts: dict[Predicates | None, _Part] = {None: self._part(self._unique)}
        self._is_of_stream = _STREAM.keys() >= {*self._shared.names}
        self._made: dict[StreamKey, tuple[Triple, ...]] = {}
        self._needed: dict[Ask, _Needed] = {}

    def __len__(self) -> int:
        return len(self.whole)

    def is_exact(self) -> bool:
        """Whether its rows are triples, each another, in whatever observation; by one of them."""
        terms = self._templates.terms(self._example, self.whole.names)
        return self.whole.is_fixed and len(self.whole.of(terms)) == len(self.whole)

    def all(self, told: Said) -> tuple[Triple, ...]:
        """All triples, in the order of the text."""
        return tuple([Triple(*terms) for terms in self._all.terms(told)])

    def shared(self, told: Said) -> tuple[Triple, ...]:
        """The triples that other observations may have; of one stream the same object, mostly."""
        if not self._is_of_stream:
            return self._shared.of(self._templates.terms(told, self._shared.names))
        key = told.sensor, told.observed_property, told.feature
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= _REMEMBERED:
                self._made.clear()
            made = self._shared.of(self._templates.terms(told, self._shared.names))
            self._made[key] = made
        return made

    def unique_terms(self, told: Said, wanted: Predicates | None) -> Sequence[Spo]:
        """The triples of wanted predicates that no other observation has, as terms."""
        part = self._parts.get(wanted)
        return (self.part(wanted) if part is None else part).terms(told)

    def bytes(self, wanted: Predicates | None) -> int:
        """What an element takes of which so much is wanted, by estimate."""
        part = self._parts.get(wanted)
        return (self.part(wanted) if part is None else part).bytes

    def part(self, wanted: Predicates | None) -> "_Part":
        """The rows that only one observation has, of wanted predicates."""
        part = self._parts.get(wanted)
        if part is None:
            if len(self._parts) >= _PARTS:
                self._parts = {None: self._part(self._unique)}
            part = self._parts[wanted] = self._part(self._unique.part(_has_predicate(wanted)))
        return part

    def may_answer(self, told: Said, ask: Ask) -> bool:
        """Whether a subject may be the one that is asked for, by what is the same in its stream.

        What is said of an IRI that is the observation's own is all here, so it can be told.
        """
        needed = self._needed.get(ask)
        if needed is None:
            if len(self._needed) >= _ASKS:
                self._needed.clear()
            needed = self._needed[ask] = self._needed_for(ask)
        return all(any(_STREAM[name](told) == iri for name in names) for names, iri in needed)

    def _needed_for(self, ask: Ask) -> "_Needed":
        """What sensor, property or feature have to be; nothing where it cannot be told by these."""
        if ask.predicates is None:
            return ()
        looked_at = list(filter(_has_predicate(ask.predicates), self.whole.quads))
        if any(isinstance(q.predicate, Variable) or not _is_own(q.subject) for q in looked_at):
            return ()
        found: list[tuple[tuple[str, ...], str]] = []
        for predicate, value in ask.says:
            saying = [quad.object for quad in looked_at if quad.predicate == predicate]
            if any(_is_unknown(each, value) for each in saying):
                continue
            names = tuple([each.value for each in saying if isinstance(each, Variable)])
            found.append((names, value.value if isinstance(value, NamedNode) else ""))
        return tuple(found)

    def _part(self, template: TemplateTriples) -> "_Part":
        return _Part(template, self._templates, self._example, self._lately)


class _Part:
    """Some rows of a template, read of one observation after the other."""

    __slots__ = ("_base", "_last", "_lately", "_makers", "_template", "_templates", "bytes")

    def __init__(
        self,
        template: TemplateTriples,
        templates: ObservationTemplates,
        example: Said,
        lately: Mapping[int, ObservedTerms],
    ) -> None:
        self.bytes = HELD_BYTES + MADE_BYTES * len(template)
        self._lately = lately
        self._template = template
        self._templates = templates
        self._base = templates.base
        self._makers = templates.makers(example, template.names)
        self._last: tuple[Said, Sequence[Spo]] | None = None

    def __len__(self) -> int:
        return len(self._template)

    def terms(self, told: Said) -> Sequence[Spo]:
        """What their triples are made of; windows of one stream ask one after the other."""
        last = self._last
        if last is not None and last[0] is told:
            return last[1]
        base, makers, template = self._base, self._makers, self._template
        if makers is None:
            terms = self._templates.terms(told, template.names)
            made = template.terms_of([terms[name] for name in template.names])
        else:
            written = self._lately.get(id(told))
            if written is None:
                made = template.terms_of([make(base, told) for make in makers])
            else:
                values: list[Term] = list(map(written.term, template.names))
                made = template.terms_of(values, are_canonical=True)
        self._last = told, made
        return made


class ObservedTriples(Parted):
    """The triples of one observation."""

    __slots__ = ("_recipe", "_shared", "_told")

    def __init__(self, recipe: Recipe, told: Said) -> None:
        self._recipe = recipe
        self._told = told
        self._shared: tuple[Triple, ...] | None = None

    def __len__(self) -> int:
        return len(self._recipe)

    @property
    def kind(self) -> Hashable:
        """One template's observations of one stream."""
        told = self._told
        return self._recipe, told.sensor, told.observed_property, told.feature

    def may_answer(self, ask: Ask) -> bool:
        """By sensor, property, feature and the template's constants."""
        return self._recipe.may_answer(self._told, ask)

    def __iter__(self) -> Iterator[Triple]:
        return iter(self._recipe.all(self._told))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ObservedTriples):
            return NotImplemented
        return self._told == other._told and self._recipe.text == other._recipe.text

    def __hash__(self) -> int:
        return hash(self._told)

    @property
    def shared(self) -> tuple[Triple, ...]:
        """What is said of the sensor, as a rule."""
        if self._shared is None:
            self._shared = self._recipe.shared(self._told)
        return self._shared

    def unique(self, wanted: Predicates | None) -> tuple[Triple, ...]:
        """What is said of the observation, its result and its instant."""
        return tuple([Triple(*terms) for terms in self._recipe.unique_terms(self._told, wanted)])

    def unique_terms(self, wanted: Predicates | None) -> Collection[Spo]:
        """What is said of the observation, its result and its instant, without triples."""
        return self._recipe.unique_terms(self._told, wanted)

    def unique_of(self, wanted: Predicates | None) -> int:
        """How many that are."""
        recipe = self._recipe
        return recipe.unique_count if wanted is None else len(recipe.part(wanted))

    def bytes(self, wanted: Predicates | None) -> int:
        """The same for all of one recipe."""
        return self._recipe.bytes(wanted)


def _is_minted(quad: QuadPattern) -> bool:
    return _is_own(quad.subject) or _is_own(quad.object)


def _is_own(node: object) -> bool:
    return isinstance(node, Variable) and node.value in MINTED


def _is_unknown(object_: object, value: Term) -> bool:
    """Whether it may be the value, whatever the stream: it is, or nobody knows before."""
    if isinstance(object_, Variable):
        return object_.value not in _STREAM
    return object_ == value or (isinstance(object_, Literal) and canonical(object_) == value)


def _has_predicate(wanted: Predicates | None) -> Callable[[QuadPattern], bool]:
    return lambda quad: (
        wanted is None or isinstance(quad.predicate, Variable) or quad.predicate in wanted
    )
