"""From an accepted observation to its bound UPDATE, through the templates of the JSAP profile.

The identity (gateway, epoch, sequence) makes the observation's IRI, the same in store, journal and
archive; its result and its instant have IRIs below it. Nothing is a blank node, no node is ever
overwritten.
"""

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode

from adapters.values.observation import Observation, StreamKey, TimeSource
from gateway.ingest.observed_terms import Form, Make, ObservedTerms
from gateway.journal import Actuation, Position, Record
from gateway.profiles import Profiles, UpdateTemplates
from gateway.rdf.namespaces import GW, UNIT, XSD
from gateway.rdf.terms import Term
from gateway.store.bundles.bundle import Known
from gateway.store.bundles.steps import Leaving, deletes_subjects
from gateway.store.retention import SeriesEnd
from gateway.store.update import BoundUpdate
from jsap.errors import BindingError

_DATE_TIME = NamedNode(XSD + "dateTime")
_STAMP = NamedNode(XSD + "dateTimeStamp")
_NUMBERS = frozenset(XSD + name for name in ("integer", "decimal", "double", "float"))
WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"
"""The datatype of positions; GeoSPARQL 1.1, section 8.5.1."""

_UNITLESS = UNIT + "UNITLESS"
_CLOCKS = {source: NamedNode(GW + source.value) for source in TimeSource}

_node = lru_cache(maxsize=16_384)(NamedNode)
"""What observations of a stream have in common is checked once: a third of the time of a term."""


@lru_cache(maxsize=16_384)
def _require_iris(*iris: str | None) -> None:
    """Raise ValueError where one is not."""
    for iri in iris:
        if iri is not None:
            NamedNode(iri)


@dataclass(frozen=True, slots=True)
class Identity:
    """How IRIs of observations and messages are made: `<base><gateway>/observation/<position>`."""

    base_iri: str
    gateway: str

    def observation(self, position: Position) -> str:
        """The IRI of an observation."""
        return f"{self.base_iri}{self.gateway}/observation/{position}"

    def stream(self, stream: StreamKey) -> NamedNode:
        """The IRI of a stream, the same for the same sensor, property and feature."""
        return NamedNode(f"{self.base_iri}{self.gateway}/stream/{stream_id(stream)}")

    def series(self, stream: StreamKey, unit: str) -> NamedNode:
        """The IRI of the observations of a stream in one unit."""
        digest = blake2b("\n".join((*stream, unit)).encode(), digest_size=12).hexdigest()
        return NamedNode(f"{self.base_iri}{self.gateway}/series/{digest}")

    def fresh_namespace(self, epoch: int) -> NamedNode:
        """What the IRIs of an epoch's observations, their results and instants begin with."""
        return NamedNode(f"{self.base_iri}{self.gateway}/observation/{epoch}-")

    def message(self, position: Position) -> str:
        """The IRI that the observations of one MQTT message share."""
        return f"{self.base_iri}{self.gateway}/message/{position}"

    def actuation_iri(self, name: str) -> str:
        """The IRI of an actuation that was asked for by a gate."""
        return f"{self.base_iri}{self.gateway}/actuation/{name}"

    def actuation(self, rule: str, topic: str, payload: bytes) -> Actuation:
        """A command that a rule sends now; its actuator is known by the topic alone."""
        actuator = f"{self.base_iri}{self.gateway}/actuator/{quote(topic, safe='')}"
        return Actuation(actuator, topic, *payload_literal(payload), datetime.now(UTC), rule)

    def position(self, observation: str) -> Position:
        """The reverse of `observation`; ValueError for an IRI that this gateway did not make."""
        prefix = f"{self.base_iri}{self.gateway}/observation/"
        return Position.parse(observation.removeprefix(prefix))

    @property
    def node(self) -> NamedNode:
        """The gateway itself."""
        return NamedNode(f"{self.base_iri}{self.gateway}")


@lru_cache(maxsize=256)  # messages that came together have one time, and each has it thrice
def _iso(time: datetime) -> str:
    """UTC with Z and no trailing zeros: the canonical form of xsd:dateTime."""
    text = time.isoformat().removesuffix("+00:00")
    return (text.rstrip("0") if "." in text else text) + "Z"


class Said(NamedTuple):
    """What the UPDATE of one observation says, by its record; in the form of the graph.

    `unit` is None for what is no number. Smaller than the record, for who keeps many.
    """

    epoch: int
    sequence: int
    message: int
    sensor: str
    observed_property: str
    feature: str
    lexical: str
    datatype: str
    unit: str | None
    time: datetime
    ingested_at: datetime
    clock: TimeSource

    @property
    def position(self) -> str:
        """The last part of the observation's IRI."""
        return f"{self.epoch}-{self.sequence}"


def said(record: Record, stream: StreamKey | None = None) -> Said:
    """What the UPDATE of a record says; `stream` is its own, where somebody keeps that."""
    seen, position, time = record.observation, record.position, result_time(record)
    sensor, observed_property, feature = stream or seen.stream
    is_ours = time is record.ingested_at
    return Said(
        position.epoch,
        position.sequence,
        record.message,
        sensor,
        observed_property,
        feature,
        seen.lexical,
        seen.datatype,
        unit_in_graph(seen),
        time,
        record.ingested_at,
        TimeSource.GATEWAY if is_ours else seen.circumstances.time_source,
    )


def stream_id(stream: StreamKey) -> str:
    """The last part of a stream's IRI: 24 hexadecimal digits."""
    return blake2b("\n".join(stream).encode(), digest_size=12).hexdigest()


def payload_literal(payload: bytes) -> tuple[str, str]:
    """Lexical form and datatype of a command's payload."""
    try:
        return payload.decode(), XSD + "string"
    except UnicodeDecodeError:
        return b64encode(payload).decode(), XSD + "base64Binary"


def result_time(record: Record) -> datetime:
    """When the device measured, or when we heard of it if it did not tell or its clock is wrong."""
    time = record.observation.phenomenon_time
    return record.ingested_at if time is None or record.clock_suspect else time


def unit_in_graph(seen: Observation) -> str | None:
    """The unit that the graph says of the result; None for what is no number."""
    if seen.datatype not in _NUMBERS:
        return None
    return seen.unit or _UNITLESS


def told_unit(in_graph: str | None) -> str | None:
    """The reverse of `unit_in_graph`."""
    return None if in_graph == _UNITLESS else in_graph


_STREAMS = 50_000
"""So many streams are remembered."""

_Make = Callable[[str, Said], NamedNode | Literal]
"""A term of what an observation says; the first is `<base><gateway>`."""

_OWN = {"observation": "", "resultNode": "/result", "instant": "/time"}
MINTED = tuple(_OWN)
"""The names whose values no two observations have in common."""

_VALUES: Mapping[str, _Make] = {
    "observation": lambda base, said: NamedNode(f"{base}/observation/{said.position}"),
    "message": lambda base, said: NamedNode(f"{base}/message/{said.epoch}-{said.message}"),
    "sensor": lambda _, said: _node(said.sensor),
    "property": lambda _, said: _node(said.observed_property),
    "feature": lambda _, said: _node(said.feature),
    "result": lambda _, said: Literal(said.lexical, datatype=_node(said.datatype)),
    "instant": lambda base, said: NamedNode(f"{base}/observation/{said.position}/time"),
    "phenomenonStamp": lambda _, said: Literal(_iso(said.time), datatype=_STAMP),
    "resultTime": lambda _, said: Literal(_iso(said.time), datatype=_DATE_TIME),
    "ingestedAt": lambda _, said: Literal(_iso(said.ingested_at), datatype=_DATE_TIME),
    "timeSource": lambda _, said: _CLOCKS[said.clock],
}
_QUANTITIES: Mapping[str, _Make] = {
    **_VALUES,
    "resultNode": lambda base, said: NamedNode(f"{base}/observation/{said.position}/result"),
    "unit": lambda _, said: _node(said.unit or _UNITLESS),
}

_OBSERVED = ("OBSERVE_QUANTITY", "OBSERVE_VALUE", "STATE_GEOMETRY", "SUSPECT_CLOCK")
_TEMPLATES = (
    *_OBSERVED,
    "FORGET_OBSERVATION",
    "END_SERIES",
    "CLASSIFY_SENSOR",
)


class ObservationTemplates:
    """The templates of the profiles that write observations and take them out again."""

    def __init__(self, profiles: Profiles, identity: Identity) -> None:
        """Raises ConfigurationError or SparqlSyntaxError for a template missing or wrong."""
        self._identity = identity
        self.base = f"{identity.base_iri}{identity.gateway}"
        """What the IRIs of observations and messages begin with."""
        self._templates = UpdateTemplates(profiles, _TEMPLATES)
        self._forms: dict[str, Form] = {}
        self._streams: dict[StreamKey, StreamKey] = {}
        self._forgets = False
        self._class_shape = self._templates.shape("CLASSIFY_SENSOR", ())
        try:
            self._bind_examples()
        except BindingError as error:
            raise profiles.lacking(error) from error
        self._forgets = self._forgets_whole_subjects()

    def _bind_examples(self) -> None:
        for datatype in (XSD + "decimal", XSD + "string"):
            seen = Observation("urn:s", "urn:p", "urn:f", "1", datatype)
            record = Record(Position(0, 1), 1, seen, datetime.fromtimestamp(0, UTC))
            self.observe(record)
            self._note_form(said(record))
            self.suspect(record)
        self.geometry(replace(record, observation=replace(seen, datatype=WKT)))
        self.classify("urn:s", "urn:c")
        self.forget("urn:o")
        self.end_series(SeriesEnd(seen.stream, "urn:u", "urn:v", record.ingested_at))

    def _note_form(self, example: Said) -> None:
        """Have terms made when they are asked for, where the profile takes whatever they are."""
        name, makers = _template(example), _makers(example)
        shape = self._templates.shape(name, MINTED)
        terms = {key: make(self.base, example) for key, make in makers.items()}
        if shape is None or not self._templates.takes_all_like(name, terms, ("result",)):
            return
        fixed = {
            key: term for key, term in self._templates.bound(name, {}).items() if key not in makers
        }
        suffixes = tuple([_OWN[subject] for subject in shape.subjects])
        self._forms[name] = Form(shape, makers, fixed, suffixes)

    def _forgets_whole_subjects(self) -> bool:
        """Whether FORGET_OBSERVATION does just that, to the three."""
        names = deletes_subjects(self._templates.plan("FORGET_OBSERVATION"))
        return names == set(MINTED) and not self._templates.bound("FORGET_OBSERVATION", {})

    def entering(self, record: Record) -> Iterator[BoundUpdate]:
        """The UPDATEs that write one observation and what it says besides."""
        yield from self.observed(record)
        seen = record.observation
        if seen.sensor_class is not None:
            yield self.classify(seen.sensor, seen.sensor_class)

    @staticmethod
    def is_observed_alone(record: Record) -> bool:
        """Whether `observed` gives what `observe` does, and nothing beside it."""
        return record.observation.datatype != WKT and not record.clock_suspect

    def observed(self, record: Record) -> Iterator[BoundUpdate]:
        """The UPDATEs that write one observation, which its record alone tells."""
        yield self.observe(record)
        if record.observation.datatype == WKT:
            yield self.geometry(record)
        if record.clock_suspect:
            yield self.suspect(record)

    @property
    def texts(self) -> Sequence[str]:
        """The texts of what `observed` gives."""
        return self._templates.texts(_OBSERVED)

    def classify(self, sensor: str, kind: str) -> BoundUpdate:
        """The UPDATE that says of which class a sensor is by its mapping."""
        values = {"sensor": _node(sensor), "class": _node(kind)}
        plan, terms = self._templates.bind("CLASSIFY_SENSOR", values)
        shape = self._class_shape
        return plan, terms if shape is None else Known(shape, (), terms)

    def observe(self, record: Record) -> BoundUpdate:
        """The UPDATE that writes one observation."""
        told = self.said(record)
        base, name = self.base, _template(told)
        form = self._forms.get(name)
        if form is None:
            values = {key: make(base, told) for key, make in _makers(told).items()}
            return self._templates.bind(name, values)
        _require_iris(told.sensor, told.observed_property, told.feature, told.unit)
        result = Literal(told.lexical, datatype=_node(told.datatype))
        iri = f"{base}/observation/{told.epoch}-{told.sequence}"
        return self._templates.plan(name), ObservedTerms(form, base, iri, told, result)

    def said(self, record: Record) -> Said:
        """What the UPDATE of a record says; the IRIs of its stream are the same objects, mostly."""
        stream, known = record.observation.stream, self._streams
        if len(known) >= _STREAMS:
            known.clear()
        return said(record, known.setdefault(stream, stream))

    def text(self, told: Said) -> str:
        """The text of the UPDATE that writes one observation."""
        return self._templates.text(_template(told))

    def terms(self, told: Said, names: Iterable[str]) -> Mapping[str, Term]:
        """The forced bindings that have these names, and what the profile binds itself."""
        base, makers = self.base, _makers(told)
        values = {name: makers[name](base, told) for name in names if name in makers}
        return self._templates.bound(_template(told), values)

    def makers(self, example: Said, names: Iterable[str]) -> Sequence[Make] | None:
        """What makes these forced bindings of such an observation, each of `base` and what it says.

        None where the profile has to look at what they are, or one is not bound: see `terms`.
        """
        form = self._forms.get(_template(example))
        if form is None:
            return None
        found = list(map(form.maker, names))
        return None if None in found else [each for each in found if each is not None]

    def geometry(self, record: Record) -> BoundUpdate:
        """The UPDATE that says of a position's result that it is a geometry."""
        iri, seen = self._identity.observation(record.position), record.observation
        values: dict[str, NamedNode | Literal] = {
            "observation": NamedNode(iri),
            "resultNode": NamedNode(f"{iri}/result"),
            "result": Literal(seen.lexical, datatype=NamedNode(WKT)),
        }
        return self._templates.bind("STATE_GEOMETRY", values)

    def suspect(self, record: Record) -> BoundUpdate:
        """The UPDATE that marks an observation whose device told a time that cannot be."""
        iri = self._identity.observation(record.position)
        return self._templates.bind("SUSPECT_CLOCK", {"observation": NamedNode(iri)})

    def forget(self, observation: str) -> BoundUpdate:
        """The UPDATE that takes one observation out of the store."""
        if self._forgets:
            iris = tuple([observation + suffix for suffix in _OWN.values()])
            return self._templates.plan("FORGET_OBSERVATION"), Leaving(MINTED, iris)
        return self._templates.bind(
            "FORGET_OBSERVATION",
            {
                "observation": NamedNode(observation),
                "resultNode": NamedNode(f"{observation}/result"),
                "instant": NamedNode(f"{observation}/time"),
            },
        )

    def end_series(self, ended: SeriesEnd) -> BoundUpdate:
        """The UPDATE that says when a stream's numbers went over to another unit."""
        sensor, observed_property, feature = map(NamedNode, ended.stream)
        return self._templates.bind(
            "END_SERIES",
            {
                "stream": self._identity.stream(ended.stream),
                "sensor": sensor,
                "property": observed_property,
                "feature": feature,
                "before": self._identity.series(ended.stream, ended.before),
                "unitBefore": NamedNode(ended.before),
                "after": self._identity.series(ended.stream, ended.after),
                "unitAfter": NamedNode(ended.after),
                "at": Literal(_iso(ended.time), datatype=_DATE_TIME),
            },
        )


def _template(told: Said) -> str:
    return "OBSERVE_VALUE" if told.unit is None else "OBSERVE_QUANTITY"


def _makers(told: Said) -> Mapping[str, _Make]:
    return _VALUES if told.unit is None else _QUANTITIES
