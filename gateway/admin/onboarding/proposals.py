"""Proposals as data: what a device announced, in the graph of proposals, until a person decides.

Place on the way of the data: between discovery, which finds them, and the graph of mappings,
where the confirmed ones go. A proposal's node has the IRI that its mapping would have and says the
same of itself; what can be set has an actuator beside it. Whether it is confirmed is known by the
mapping that is there, so that nothing has to be kept in step.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from enum import Enum, unique
from hashlib import blake2b

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse, serialize

from adapters.families import FORMATS
from adapters.values.mapping import Mapping, Retained
from adapters.values.properties import Kind
from adapters.values.proposal import Proposal
from adapters.values.topic_filter import TopicFilter
from gateway.admin.onboarding.nodes import ACTUATOR, TYPE, Members
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.namespaces import GW, PROPOSALS_GRAPH, RDFS, XSD
from gateway.rdf.terms import Term
from jsap.errors import JsapError
from jsap.extended.quads import mapping_members, one_actuator, one_mapping

PROPOSAL = NamedNode(GW + "Proposal")
STATUS = NamedNode(GW + "proposalStatus")
ANNOUNCED_ON = NamedNode(GW + "announcedOn")
PROPOSED_AT = NamedNode(GW + "proposedAt")
LABEL = NamedNode(RDFS + "label")
KIND = NamedNode(GW + "kind")
BEFORE = NamedNode(GW + "announcedBefore")

MAX_LABEL_CHARS = 200
_DATE_TIME = NamedNode(XSD + "dateTime")


@unique
class Status(Enum):
    """What has become of a proposal: the word of the API, and its term.

    MOVED and CHANGED have a mapping that was made by an earlier announcement: since then the device
    has another name, or what it tells means something else.
    """

    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    MOVED = "moved"
    CHANGED = "changed"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"

    @property
    def is_open(self) -> bool:
        """Whether somebody is to decide."""
        return self in {Status.PROPOSED, Status.MOVED, Status.CHANGED}

    @property
    def term(self) -> NamedNode:
        """In our namespace; Confirmed is what actuations are, Change a kind of rows."""
        word = {Status.CONFIRMED: "accepted", Status.CHANGED: "meansOther"}.get(self, self.value)
        return NamedNode(GW + word[0].upper() + word[1:])


@dataclass(frozen=True, slots=True)
class StoredProposal:
    """A proposal as it stands in the graph: `quads` of its node, `actuator` those of that node."""

    node: NamedNode
    quads: frozenset[Quad]
    actuator: frozenset[Quad] = frozenset()

    @property
    def id(self) -> str:
        """What people type."""
        return short_id(self.node.value)

    @property
    def is_known(self) -> bool:
        """Whether its property is one of the vocabulary, and not the device's own word."""
        return bool(self.text("quantity"))

    @property
    def kind(self) -> Kind:
        """Kind of the property; what was stored without one is a measurement."""
        told = self.value(KIND).removeprefix(GW)
        return next((each for each in Kind if each.value == told), Kind.MEASUREMENT)

    @property
    def content(self) -> frozenset[Quad]:
        """What was proposed, without what became of it, when, and on which topic."""
        changing = {STATUS, PROPOSED_AT, ANNOUNCED_ON, BEFORE}
        return self.actuator | {quad for quad in self.quads if quad.predicate not in changing}

    @property
    def every(self) -> frozenset[Quad]:
        """All quads."""
        return self.quads | self.actuator

    @property
    def status(self) -> Status:
        """As it was written last; Status.PROPOSED where somebody took it out."""
        term = self.value(STATUS)
        return next((each for each in Status if each.term.value == term), Status.PROPOSED)

    @property
    def mapping(self) -> Members:
        """The mapping that it would be, as a profile's JSON."""
        return {**mapping_members(self.node, self.quads)}

    @property
    def command(self) -> Members:
        """How the property is set: `topic`, `payload`, `values` ...; empty where it cannot be."""
        told: Members = {}
        for quad in sorted(self.actuator, key=str):
            name = _COMMAND.get(quad.predicate.value)
            if name == "values":
                told["values"] = [*_listed(told.get("values")), _text(quad)]
            elif name:
                told[name] = _text(quad)
        return told

    def text(self, term: str) -> str:
        """The value of a term of ours."""
        return self.value(NamedNode(GW + term))

    def value(self, predicate: NamedNode) -> str:
        """The first value by text, "" where there is none."""
        values = (quad.object for quad in self.quads if quad.predicate == predicate)
        return min((v.value for v in values if isinstance(v, Literal | NamedNode)), default="")

    @property
    def before(self) -> "StoredProposal | None":
        """What was announced when its mapping was made, where that was something else."""
        text = self.value(BEFORE)
        try:
            quads = frozenset(parse(text, format=RdfFormat.N_QUADS)) if text else frozenset()
        except (SyntaxError, ValueError):
            return None  # somebody wrote it
        own = frozenset(quad for quad in quads if quad.subject == self.node)
        return StoredProposal(self.node, own, quads - own) if own else None

    def with_status(
        self, status: Status, before: "StoredProposal | None" = None
    ) -> "StoredProposal":
        """The same, after somebody or something has decided; `before` where a mapping is older."""
        changing = {STATUS, BEFORE}
        told = {quad for quad in self.quads if quad.predicate not in changing}
        told.add(Quad(self.node, STATUS, status.term, PROPOSALS_GRAPH))
        if before is not None:
            text = serialize(sorted(before.every, key=str), format=RdfFormat.N_QUADS)
            told.add(Quad(self.node, BEFORE, Literal(text.decode()), PROPOSALS_GRAPH))  # type: ignore[union-attr]
        return StoredProposal(self.node, frozenset(told), self.actuator)


def short_id(iri: str) -> str:
    """12 hexadecimal digits for an IRI.

    >>> len(short_id("urn:m"))
    12
    """
    return blake2b(iri.encode(), digest_size=6).hexdigest()


def stored(proposal: Proposal, topic: str, at: datetime) -> StoredProposal:
    """A proposal as data. Raises JsapError where a member of it is no RDF: an IRI that is none."""
    members = members_of(proposal.mapping)
    node = NamedNode(proposal.mapping.iri)
    mapping = (quad for quad in one_mapping(members, {}) if quad.predicate != TYPE)
    told = {
        "family": proposal.family,
        "device": proposal.device[:MAX_LABEL_CHARS],
        "quantity": proposal.meaning.quantity,
        "question": proposal.questions[:MAX_LABEL_CHARS],
    }
    objects: list[tuple[NamedNode, Term]] = [
        (TYPE, PROPOSAL),
        (STATUS, Status.PROPOSED.term),
        (PROPOSED_AT, _time(at)),
        (ANNOUNCED_ON, Literal(topic)),
        (LABEL, Literal(proposal.label[:MAX_LABEL_CHARS])),
        (KIND, NamedNode(GW + proposal.meaning.kind.value)),
        *((quad.predicate, quad.object) for quad in mapping),
        *((NamedNode(GW + term), Literal(text)) for term, text in told.items() if text),
    ]
    actuator = _actuator(proposal) if proposal.command is not None else frozenset()
    objects += {(ACTUATOR, quad.subject) for quad in actuator}
    return StoredProposal(node, _proposed(objects, node), actuator)


def members_of(mapping: Mapping) -> Members:
    """A mapping as the JSON of a profile, with the members that say something."""
    members = {
        "id": mapping.iri,
        "topic": mapping.topic_filter,
        "format": mapping.format,
        "sensor": mapping.sensor,
        "property": mapping.observed_property,
        "feature": mapping.feature_of_interest,
    }
    others: Members = {
        "selector": mapping.selector,
        "unit": mapping.unit,
        "time": mapping.time_selector,
        "sequence": mapping.sequence_selector,
        "deviceUnit": mapping.device_unit,
        "trueValue": mapping.true_value,
        "falseValue": mapping.false_value,
        "expiresAfter": mapping.expires_after_s,
        "availability": mapping.availability_topic,
        "retained": "" if mapping.retained == Retained.SEED.value else mapping.retained,
        "availabilities": mapping.availabilities,
        "sensorClass": mapping.sensor_class,
        "scale": _json_number(mapping.scale),
        "offset": _json_number(mapping.offset),
        "condition": mapping.condition,
        "decimalSign": mapping.decimal_sign,
    }
    return members | {name: value for name, value in others.items() if value}


def _actuator(proposal: Proposal) -> frozenset[Quad]:
    """The actuator of a command; none where its topic or a number is none."""
    mapping, command = proposal.mapping, proposal.command
    if command is None or not _is_topic(command.topic):
        return frozenset()
    is_plain = FORMATS[proposal.family].encode_command is FORMATS["text"].encode_command
    members: Members = {
        "id": _actuator_iri(mapping.iri),
        "name": _name(proposal.label),
        "topic": command.topic,
        "property": mapping.observed_property,
        "feature": mapping.feature_of_interest,
        "sensor": mapping.sensor,
        "payload": None if command.payload == "{value}" else command.payload,
        "format": None if is_plain else proposal.family,
        "values": list(command.values),
        "minimum": _number(command.minimum),
        "maximum": _number(command.maximum),
        "step": _number(command.step),
        "unit": mapping.unit,
        "deviceUnit": mapping.device_unit,
        "trueValue": command.true_value or mapping.true_value or None,
        "falseValue": command.false_value or mapping.false_value or None,
        "retain": command.retain or None,
    }
    members = {name: value for name, value in members.items() if value is not None}
    try:
        quads = one_actuator(members, {})
    except JsapError:
        return frozenset()
    objects = [(quad.predicate, quad.object) for quad in quads]
    return _proposed(objects, NamedNode(_actuator_iri(mapping.iri)))


def _proposed(objects: Iterable[tuple[NamedNode, Term]], node: NamedNode) -> frozenset[Quad]:
    """In the graph of proposals, as the store gives them back."""
    quads = (Quad(node, predicate, value, PROPOSALS_GRAPH) for predicate, value in objects)
    return frozenset(map(canonical_quad, quads))


def _actuator_iri(mapping: str) -> str:
    """Beside the mapping's: `.../mapping/family/device/member` with `actuator` instead."""
    before, found, behind = mapping.partition("/mapping/")
    return f"{before}/actuator/{behind}" if found else f"{mapping}/actuator"


def _name(label: str) -> str | None:
    """By which people call the actuator: `plug state` is plug-state; None where nothing is left."""
    return re.sub(r"[^A-Za-z0-9_.]+", "-", label)[:60].strip("-").lower() or None


def _is_topic(text: str) -> bool:
    """Whether it can be published to."""
    try:
        return TopicFilter.parse(text).wildcards == 0
    except ValueError:
        return False


def _number(text: str) -> Decimal | None:
    """A number that a person would write; a device may have written anything."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 30 else None


def _json_number(text: str) -> int | float | None:
    number = _number(text)
    if number is None:
        return None
    return int(number) if number == number.to_integral_value() else float(number)


def _time(at: datetime) -> Literal:
    text = at.isoformat().removesuffix("+00:00") + "Z"
    return Literal(text, datatype=_DATE_TIME)


def _text(quad: Quad) -> str:
    value = quad.object
    return value.value if isinstance(value, Literal | NamedNode) else str(value)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


_COMMAND = {
    GW + "commandTopic": "topic",
    GW + "commandPayload": "payload",
    GW + "allowedValue": "values",
    GW + "minimum": "minimum",
    GW + "maximum": "maximum",
    GW + "step": "step",
    GW + "retain": "retain",
}
