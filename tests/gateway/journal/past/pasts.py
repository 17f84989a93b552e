"""Lives of a gateway whose observations are partly ingested, and the truth about all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random

from pyoxigraph import Quad, QuerySolutions, Store

from adapters.values.observation import XSD, Circumstances, Observation, TimeSource
from gateway.config.settings import SHIPPED_PROFILES
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.journal import Journal, JournalLimits, Origin, Record
from gateway.journal.events import event
from gateway.journal.names import SEALED
from gateway.journal.past.gathering import Gathered, gather
from gateway.journal.past.sources import GatherLimits, Sources
from gateway.profiles import Profiles
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.store.quad_store import QuadStore
from gateway.store.update import evaluate
from jsap.profile import load_profile
from jsap.shapes.nodes import Pattern, Variable
from jsap.shapes.parse import parse
from jsap.shapes.plan import plan
from jsap.shapes.shape import shapes_of
from tests.kit.archives import take

LIMITS = GatherLimits()
START = datetime(2026, 3, 2, 7, tzinfo=UTC)
DEGREE, PERCENT = "http://qudt.org/vocab/unit/DEG_C", "http://qudt.org/vocab/unit/PERCENT"
WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"
ORIGIN = Origin("kitchen", "https://g.example/id/")
PROFILE = SHIPPED_PROFILES / "observations.jsap"
PROFILES = Profiles.load((PROFILE,))
SHAPES = shapes_of(PROFILES.updates)
NAMESPACES = {
    **load_profile(PROFILE).namespaces,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
}
PREFIXES = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in NAMESPACES.items())
TEMPLATES = ObservationTemplates(PROFILES, Identity(ORIGIN.base_iri, ORIGIN.gateway))
RESULTS = (
    *(
        ("21.50", XSD + "decimal", DEGREE),
        ("7", XSD + "integer", PERCENT),
        ("1E3", XSD + "double", None),
    ),
    *(
        ("0.1", XSD + "double", DEGREE),
        ("true", XSD + "boolean", None),
        ("0", XSD + "boolean", None),
    ),
    *(
        ('a "quoted" \\ ø', XSD + "string", None),
        ("", XSD + "string", None),
        ("NaN", XSD + "double", None),
    ),
    *(("POINT (1 2)", WKT, None), ("007", XSD + "integer", None), ("-0.0", XSD + "double", None)),
    ("2026-01-01T00:00:00Z", XSD + "dateTime", None),
)
FACTS = """
    <urn:s:0> rdfs:label "hall" ; <urn:at> <urn:room:0> .
    <urn:s:1> rdfs:label "attic" ; <urn:at> <urn:room:1> .
    <urn:room:0> rdfs:label "ground floor" . <urn:s:2> a sosa:Sensor ; qudt:hasUnit unit:DEG_C .
"""


def seen(chance: Random, minute: int) -> tuple[Observation, datetime, bool]:
    """An observation of some stream, when it came, and whether its clock is suspect."""
    came = START + timedelta(minutes=minute, microseconds=chance.choice((0, 1, 120_000)))
    lexical, datatype, unit = chance.choice(RESULTS)
    age = chance.choice((None, timedelta(), timedelta(seconds=2), timedelta(days=1, hours=5)))
    time = None if age is None else came - age
    is_suspect = chance.random() < 0.1
    if is_suspect:
        time = came + timedelta(days=400)
    source = chance.choice((TimeSource.DEVICE, TimeSource.NETWORK))
    circumstances = Circumstances(source if time is not None else TimeSource.DEVICE)
    number = chance.randrange(3)
    place = (f"urn:s:{number}", f"urn:p:{chance.randrange(2)}", f"urn:room:{number % 2}")
    return Observation(*place, lexical, datatype, unit, time, None, circumstances), came, is_suspect


@dataclass
class Past:
    """A journal, an archive that has taken a part of it, and what there ever was."""

    folder: Path
    records: list[Record] = field(default_factory=list)
    facts: QuadStore = field(default_factory=lambda: QuadStore(Store()))

    def __post_init__(self) -> None:
        self.facts._store.update(f"{PREFIXES} INSERT DATA {{ {FACTS} }}")

    @property
    def journal(self) -> Path:
        return self.folder / "journal"

    @property
    def archive(self) -> Path:
        return self.folder / "archive"

    def live(self, chance: Random, count: int, *, seal: bool = True, size: int = 7) -> None:
        """One life of the gateway."""
        first = len(self.records)
        with Journal(self.journal, ORIGIN, JournalLimits(segment_observations=size)) as journal:
            for number in range(count):
                observation, came, is_suspect = seen(chance, 17 * (first + number))
                position = journal.next_position()
                message = position.sequence - (position.sequence > 1 and chance.random() < 0.2)
                record = Record(position, message, observation, came, "", is_suspect)
                self.records.append(record)
                journal.append([record])
                journal.sync()
            if seal:
                journal.rotate()
                journal.seal()

    def sealed(self) -> list[Path]:
        return sorted(self.journal.glob(f"*{SEALED}"))

    def remove(self, path: Path) -> None:
        """As the journal does where room is needed."""
        with (self.journal / "manifest.jsonl").open("ab") as manifest:
            manifest.write(event("removed", path.name))
        path.unlink()

    def ingest(self, segments: Sequence[Path]) -> None:
        take(self.archive, segments)

    @property
    def sources(self) -> Sources:
        return Sources(self.archive, self.journal)

    def gathered(
        self, text: str, sources: Sources | None = None, limits: GatherLimits = LIMITS
    ) -> Gathered:
        wanted = plan(parse(text, NAMESPACES).algebra, SHAPES)
        facts = partial(_matches, self.facts)
        return gather(wanted, SHAPES, facts, sources or self.sources, limits)

    def truth(self) -> QuadStore:
        """All facts and observations, written by the gateway's own templates."""
        store = QuadStore(Store())
        store.load(list(self.facts.match(None, None, None, DEFAULT_GRAPH)), [])
        for record in self.records:
            store.apply(evaluate(store, list(TEMPLATES.observed(record))))
        return store


def _matches(store: QuadStore, pattern: Pattern) -> Iterable[Quad]:
    subject, object_ = (
        None if isinstance(each, Variable) else each for each in (pattern.subject, pattern.object)
    )
    return store.match(subject, pattern.iri, object_, DEFAULT_GRAPH)


def solutions(store: QuadStore, text: str) -> list[tuple[str, ...]]:
    """The rows as a bag, sorted."""
    found = store.query(PREFIXES + text)
    assert isinstance(found, QuerySolutions)
    return sorted(tuple(map(str, row)) for row in found)
