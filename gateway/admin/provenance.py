"""`Provenance`: from an observation, or a triple, back to the message that it came from.

The IRI of an observation is its position in the journal; ring and quarantine still have the last
messages and the faulty ones; the mapping is found by decoding the message again with each mapping
alone, or, without the message, by the IRIs that a mapping can make. What a template writes is told
by filling it in again.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import re2
from pyoxigraph import NamedNode, Quad

from adapters.registry import Registry
from adapters.values.mapping import Mapping, MappingError
from adapters.values.message import Message
from adapters.values.observation import Observation
from gateway.admin.onboarding.changes import MappingChange
from gateway.ingest.mappings import MappingTable, mapping_of
from gateway.ingest.quarantine import Quarantine, was_accepted
from gateway.ingest.raw_messages import RawMessages
from gateway.ingest.sensor_classes import SENSOR_CLASS, TYPE, may_be
from gateway.ingest.sosa import Identity, ObservationTemplates, unit_in_graph
from gateway.journal import Position, Record
from gateway.journal.lookup import Found, look_up
from gateway.profiles import Profiles
from gateway.rdf.canonical import canonical_quad
from gateway.store.quad_store import QuadStore
from gateway.store.update import evaluate

RING, QUARANTINE = "ring", "quarantine"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an observation came from, as far as it is still known.

    `found` is its line in the journal; `message`, kept in `kept_in`, the message. `mappings` gave
    it (`is_certain`: the message says so) or could have.
    """

    iri: str
    found: Found | None = None
    message: Message | None = None
    kept_in: str = ""
    mappings: tuple[Mapping, ...] = ()
    is_certain: bool = False

    @property
    def template(self) -> str:
        """The template that writes it, "" where its line is gone."""
        if self.found is None:
            return ""
        is_quantity = unit_in_graph(self.found.record.observation) is not None
        return "OBSERVE_QUANTITY" if is_quantity else "OBSERVE_VALUE"


class Provenance:
    """Looks for origins; its methods read files and may be called in any thread.

    `profiles` and `templates` give those in force.
    """

    def __init__(
        self,
        identity: Identity,
        mappings: MappingTable,
        raw: RawMessages,
        quarantine: Quarantine,
        *,
        journal: Path,
        profiles: Callable[[], Profiles],
        templates: Callable[[], ObservationTemplates],
    ) -> None:
        self.identity = identity
        self._mappings = mappings
        self._raw = raw
        self._quarantine = quarantine
        self._journal = journal
        self._profiles = profiles
        self._templates = templates

    def observation_of(self, iri: str) -> str | None:
        """The observation whose node this is: its own, its result's or its instant's."""
        for ending in ("", "/result", "/time"):
            if iri.endswith(ending):
                bare = iri[: len(iri) - len(ending)]
                try:
                    if self.identity.observation(self.identity.position(bare)) == bare:
                        return bare
                except ValueError:
                    continue
        return None

    def written_by_gateway(self, iri: str) -> str:
        """What of its own bookkeeping a node is; "" where it is none."""
        own = f"{self.identity.node.value}/"
        kind = iri.removeprefix(own).partition("/")[0] if iri.startswith(own) else ""
        return _OWN.get(kind, "")

    def origins(self, iris: Collection[str]) -> list[Origin]:
        """Where observations came from, by their IRIs, in the order of the journal."""
        positions = {self.identity.position(iri): iri for iri in iris}
        found = look_up(self._journal, positions)
        return [self._origin(at, positions[at], found.get(at)) for at in sorted(positions)]

    def writers(self, quad: Quad, origins: Iterable[Origin]) -> list[Origin]:
        """The origins whose template writes the quad."""
        wanted = canonical_quad(quad)
        return [origin for origin in origins if wanted in self._written(origin)]

    def quads_of(self, iri: str) -> frozenset[Quad]:
        """What the template writes of an observation whose line the journal has; else nothing."""
        (origin,) = self.origins([iri])
        return self._written(origin)

    def of_stream(self, sensor: str, observed_property: str, feature: str) -> tuple[Mapping, ...]:
        """The mappings of now that could have given an observation of a stream."""
        stream = (sensor, observed_property, feature)
        return tuple(each for each in self._mappings.mappings if _can_give(each, stream))

    def classifying(self, quad: Quad) -> tuple[Mapping, ...]:
        """The mappings of now that name this class of their sensor, if that is what it says."""
        sensor, kind = quad.subject, quad.object
        if not (isinstance(sensor, NamedNode) and isinstance(kind, NamedNode)):
            return ()
        if quad.predicate not in {TYPE, SENSOR_CLASS}:
            return ()
        named = (each for each in self._mappings.mappings if each.sensor_class == kind.value)
        return tuple(each for each in named if may_be(each, sensor.value))

    def place_of(self, mapping: Mapping) -> str:
        """The file and JSON path that a mapping is from; "" where an UPDATE has made it what it is.

        A proposal that was confirmed, or one applied over HTTP, is an UPDATE too.
        """
        profiles = self._profiles()
        node = NamedNode(mapping.iri)
        is_files = _says(mapping, node, profiles.mappings)
        return profiles.places.get(mapping.iri, "") if is_files else ""

    def source_of(self, mapping: Mapping, changes: Sequence[MappingChange]) -> str:
        """The place of a mapping, or how it came to be what it is; `changes`: the last first."""
        place = self.place_of(mapping)
        node = NamedNode(mapping.iri)
        for change in () if place else changes:
            if node in change.nodes and _says(mapping, node, change.after):
                by = f" by {change.by}" if change.by else ""
                how = _HOW.get(change.kind, change.kind)
                return f"{how}: change {change.number}, {change.at}{by}"
        return place or "UPDATE"

    def place_of_node(self, iri: str) -> str:
        """The file and JSON path of the node, if the store has of it what the file says."""
        mapping = next((each for each in self._mappings.mappings if each.iri == iri), None)
        return "" if mapping is None else self.place_of(mapping)

    def place_of_template(self, name: str) -> str:
        """The file of an update of the profiles."""
        return self._profiles().places.get(f"updates.{name}", "")

    def _origin(self, position: Position, iri: str, found: Found | None) -> Origin:
        raw = self._raw.of(position)
        record = None if found is None else found.record
        message, kept_in = (None, "") if raw is None else (raw.message, RING)
        mappings: Sequence[Mapping] = self._mappings.mappings if raw is None else raw.mappings
        if message is None and record is not None:
            message = self._in_quarantine(record)
            kept_in = "" if message is None else QUARANTINE
        if record is None:
            return Origin(iri, None, message, kept_in)
        seen = record.observation
        gave = () if message is None else _giving(mappings, message, seen)
        could = gave or tuple(each for each in mappings if _can_give(each, seen.stream))
        return Origin(iri, found, message, kept_in, could, bool(gave))

    def _in_quarantine(self, record: Record) -> Message | None:
        """A message that gave the observation and was faulty besides."""
        for entry in self._quarantine:
            is_its = entry.message.received_at == record.ingested_at
            if is_its and was_accepted(record.observation, entry.accepted):
                return entry.message
        return None

    def _written(self, origin: Origin) -> frozenset[Quad]:
        if origin.found is None:
            return frozenset()
        record, templates = origin.found.record, self._templates()
        updates = list(templates.entering(record))
        return frozenset(evaluate(QuadStore.open(None), updates).added)


_OWN = {
    "stream": "the gateway wrote this of a stream: promises and silence (docs/truth.md)",
    "series": "the gateway wrote this of a series: a stream in one unit (docs/truth.md)",
    "actuation": "the gateway wrote this of an actuation (docs/actuators.md)",
}

_HOW = {
    "apply": "applied over HTTP",
    "confirm": "a proposal, confirmed",
    "accept": "a proposal, accepted by the configuration",
    "undo": "undone",
}


def _says(mapping: Mapping, node: NamedNode, quads: Iterable[Quad]) -> bool:
    """Whether this mapping is what the quads say of the node."""
    told = [canonical_quad(quad) for quad in quads if quad.subject == node]
    try:
        return mapping_of(node, told) == mapping
    except MappingError:
        return False


def _giving(
    mappings: Iterable[Mapping], message: Message, seen: Observation
) -> tuple[Mapping, ...]:
    """The mappings that, each alone, make this observation of the message.

    Families that remember may need more than this message: then none is found.
    """
    return tuple(
        mapping
        for mapping in mappings
        if _can_give(mapping, seen.stream)
        and any(
            each.stream == seen.stream
            and each.lexical == seen.lexical
            and each.phenomenon_time == seen.phenomenon_time
            for each in Registry.compile([mapping])[0].decode(message).observations
        )
    )


def _can_give(mapping: Mapping, stream: tuple[str, str, str]) -> bool:
    sensor, observed_property, feature = stream
    return (
        mapping.observed_property == observed_property
        and _fits(mapping.sensor, sensor)
        and _fits(mapping.feature_of_interest, feature)
    )


def _fits(template: str, iri: str) -> bool:
    """Whether filling in the template can make the IRI; in linear time, whatever they are."""
    if "{" not in template:
        return template == iri
    constants = _PLACEHOLDER.split(template)
    pattern = ".+".join(re2.escape(constant) for constant in constants)
    try:
        return re2.fullmatch(pattern, iri) is not None
    except re2.error:
        return False


_PLACEHOLDER = re2.compile(r"\{(?:[1-9][0-9]{0,2}|name|\$[^{}]*)\}")
