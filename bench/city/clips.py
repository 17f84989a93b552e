"""The city in CLIPS (Rete, in C) through clipspy: the queries translated by hand to rules.

Place on the way of the data: a yardstick of the engine benchmarks, used nowhere else. A row of an
answer is a fact that stands as long as what it follows from (`logical`); two rules tell that a row
has come and that it has gone. CLIPS gets the net change ready-made, as facts to retract and to
assert: it parses no SPARQL and keeps no dataset that could be asked. `Clips` gives new facts slot
by slot, the fastest of the ways tried (a relation for each predicate and signed facts were others);
`ClipsByText` has them read from text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from pyoxigraph import Literal, NamedNode

from bench.city.profile import Lamps, Model, Profile, Update, row_text
from bench.city.streets import CITY, city, lamp_iri, road_iri
from bench.city.way import Way

Spo = tuple[str, str, str]

_ROW = "(deftemplate row (slot query) (slot lamp) (slot value))"
_TOLD = "(deftemplate told (slot query) (slot lamp) (slot value))"
_TRIPLE = "(deftemplate triple (slot s) (slot p) (slot o))"
_COMES = """(defrule comes (row (query ?q) (lamp ?l) (value ?v)) =>
  (assert (told (query ?q) (lamp ?l) (value ?v))) (notify + ?q ?l ?v))"""
_GOES = """(defrule goes ?told <- (told (query ?q) (lamp ?l) (value ?v))
  (not (row (query ?q) (lamp ?l) (value ?v))) => (retract ?told) (notify - ?q ?l ?v))"""


def is_installed() -> bool:
    """Whether clipspy is there: it is a development dependency, not one of the device."""
    return find_spec("clips") is not None


@dataclass(frozen=True, slots=True)
class Change:
    """The net change of an update: triples out, and slots of triples in."""

    removed: Sequence[Spo]
    added: Sequence[dict[str, Any]]
    texts: Sequence[str] = ()


class Clips(Way):
    """CLIPS, which gets new facts slot by slot; a rule for each subscription."""

    def __init__(self, profile: Profile) -> None:
        import clips  # noqa: PLC0415 - only where it is measured

        self._symbol = clips.Symbol
        self._environment = clips.Environment()
        self._told: list[tuple[str, int, str, str]] = []
        self._environment.define_function(self._tell, "notify")
        for construct in (_TRIPLE, _ROW, _TOLD, _COMES, _GOES):
            self._environment.build(construct)
        self._profile = profile
        self._triple = self._environment.find_template("triple")
        self._model = Model(())
        self._facts: dict[Spo, Any] = {}

    def subscribe(self) -> None:
        """Rules before facts, else CLIPS takes long; handles are kept of facts that may go."""
        for number, lamps in enumerate(self._profile.subscriptions):
            self._environment.build(_rule(number, lamps))
        for quad in city(frozenset(self._profile.streets)):
            spo = (quad.subject.value, quad.predicate.value, quad.object.value)  # type: ignore[union-attr]
            fact = self._triple.assert_fact(**self._slots(quad.object, *spo))
            if quad.predicate.value == CITY + "hasDimmingValue":
                self._facts[spo] = fact
        self._environment.run()
        self._told.clear()

    def _tell(self, sign: str, query: int, lamp: str, value: str) -> None:
        self._told.append((sign, query, lamp, value))

    def _slots(self, term: object, subject: str, predicate: str, object_: str) -> dict[str, Any]:
        symbol = self._symbol
        is_iri = isinstance(term, NamedNode)
        return {
            "s": symbol(subject),
            "p": symbol(predicate),
            "o": symbol(object_) if is_iri else object_,
        }

    def prepare(self, update: Update) -> Change:
        """The change that the update makes."""
        predicate = CITY + "hasDimmingValue"
        removed, added = [], []
        for _, lamp, old in self._model.apply([update]):
            removed.append((lamp_iri(*lamp), predicate, old))
            new = (lamp_iri(*lamp), predicate, update.value)
            added.append(self._slots(Literal(update.value), *new))
        return Change(removed, added)

    def step(self, change: Change) -> Sequence[tuple[str, int, str, str]]:
        """Retract and assert facts, run the rules; gives what they told."""
        facts = self._facts
        for spo in change.removed:
            facts.pop(spo).retract()
        for slots, fact in zip(change.added, self.add(change), strict=True):
            facts[slots["s"], slots["p"], slots["o"]] = fact
        self._environment.run()
        told = self._told.copy()
        self._told.clear()
        return told

    def add(self, change: Change) -> Iterator[Any]:
        """The new facts, asserted."""
        return (self._triple.assert_fact(**slots) for slots in change.added)

    def rows(self, update: Update, told: Sequence[tuple[str, int, str, str]]) -> Iterator[str]:
        """One row for each call of `notify` by a rule."""
        for sign, query, lamp, value in told:
            named = () if lamp == "nil" else (lamp,)
            yield row_text(update, query, sign, *named, value)


class ClipsByText(Clips):
    """CLIPS, which reads new facts from text, as the engine does updates."""

    def prepare(self, update: Update) -> Change:
        """The change, with each new fact as text."""
        change = super().prepare(update)
        return replace(change, texts=[_fact(slots) for slots in change.added])

    def add(self, change: Change) -> Iterator[Any]:
        """The new facts, read from text."""
        return map(self._environment.assert_string, change.texts)


def _fact(slots: Mapping[str, Any]) -> str:
    return f'(triple (s {slots["s"]}) (p {slots["p"]}) (o "{slots["o"]}"))'


def _rule(number: int, lamps: Lamps) -> str:
    """SLAMP or SROAD."""
    if lamps.post is None:
        lamp, patterns = (
            "?lamp",
            [
                _pattern("?lamp", "hasDimmingValue", "?value"),
                _pattern("?post", "hasLamp", "?lamp"),
                _pattern(road_iri(lamps.road), "isConnectedTo", "?post"),
            ],
        )
    else:
        iri = lamp_iri(lamps.road, lamps.post)
        lamp, patterns = "nil", [_pattern(iri, "hasDimmingValue", "?value")]
    return (
        f"(defrule query-{number} (logical {' '.join(patterns)}) => "
        f"(assert (row (query {number}) (lamp {lamp}) (value ?value))))"
    )


def _pattern(subject: str, predicate: str, object_: str) -> str:
    return f"(triple (s {subject}) (p {CITY}{predicate}) (o {object_}))"
