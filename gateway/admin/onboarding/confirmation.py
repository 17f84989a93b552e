"""A proposal becomes a mapping: what its nodes are to say, and what SOSA says of the device.

Place on the way of the data: between a person's decision and the scheduler, in whose thread these
functions are called. One Delta has it all: the mapping and its actuator in their graph, what the
sensor is in the default graph, the status, and the record by which it is undone.
"""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote

from pyoxigraph import Literal, NamedNode, Quad

from adapters.registry import Registry
from adapters.values.mapping import MappingError
from adapters.values.properties import BASE, VOCABULARY
from gateway.admin.onboarding.changes import Author, Kind, MappingChange, replacing, require_good
from gateway.admin.onboarding.edits import mapping_node, members_with
from gateway.admin.onboarding.nodes import ACTUATOR, TYPE, InStore, nodes_of
from gateway.admin.onboarding.proposal_graph import proposal_at
from gateway.admin.onboarding.proposals import LABEL, Status, StoredProposal
from gateway.engine import Engine
from gateway.errors import ClientError
from gateway.ingest.mappings import mapping_of
from gateway.rdf.delta import Delta, quads_delta
from gateway.rdf.namespaces import GW, MAPPINGS_GRAPH, SOSA, SSN
from gateway.rdf.terms import DEFAULT_GRAPH, Term

_PROPERTY = NamedNode(GW + "observedProperty")
_SENSOR = NamedNode(GW + "sensor")
_FEATURE = NamedNode(GW + "featureOfInterest")
_UNIT = NamedNode(GW + "unit")
_NAME = NamedNode(GW + "name")
_OWN_NAME = NamedNode(GW + "OwnName")

_ACTS_ON: Mapping[NamedNode, NamedNode] = {
    NamedNode(SSN + "forProperty"): _PROPERTY,
    NamedNode(GW + "confirmedBy"): _SENSOR,
    _FEATURE: _FEATURE,
    _UNIT: _UNIT,
}
"""What an actuator says, and which member of its mapping says the same."""


def confirming(
    engine: Engine,
    proposals: Sequence[StoredProposal],
    changes: Mapping[str, object],
    identity: str,
) -> tuple[Delta, MappingChange | None]:
    """The Delta that makes proposals mappings, with other members where `changes` has them.

    Raises InvalidMappingError where one does not compile then; nothing is changed.
    """
    wanted: dict[NamedNode, frozenset[Quad]] = {}
    told: list[Quad] = []
    for each in proposals:
        wanted |= wanted_by(each, changes)
        told += described(engine, each, wanted[each.node])
    wanted = with_own_names(engine, wanted)
    require_good(InStore(engine), wanted)
    delta, change = replacing(engine, wanted, Author.now(identity, Kind.CONFIRM))
    status = deciding(engine, proposals, Status.CONFIRMED)
    return quads_delta(
        [*told, *delta.added, *status.added], [*delta.removed, *status.removed]
    ), change


def deciding(engine: Engine, proposals: Iterable[StoredProposal], status: Status) -> Delta:
    """The Delta that gives proposals a status; one that was a guess is kept from now on."""
    added: list[Quad] = []
    removed: list[Quad] = []
    for each in proposals:
        old = proposal_at(engine, each.node)
        removed += old.every if old is not None else ()
        added += each.with_status(status).every
    return quads_delta(added, removed)


def wanted_by(
    proposal: StoredProposal, changes: Mapping[str, object]
) -> dict[NamedNode, frozenset[Quad]]:
    """What the nodes of a confirmed proposal are to say in the graph of mappings.

    Raises InvalidMappingError.
    """
    members = members_with(proposal.mapping, changes)
    node, quads = mapping_node({**members, "id": proposal.node.value}, "mapping")
    said = {quad.predicate: quad.object for quad in quads}
    acting = (_acting(quad, said) for quad in proposal.actuator)
    actuators = nodes_of(filter(_is_sound, acting))
    links = {Quad(node, ACTUATOR, each, MAPPINGS_GRAPH) for each in actuators}
    return {node: quads | links, **actuators}


def with_own_names(
    engine: Engine, wanted: Mapping[NamedNode, frozenset[Quad]]
) -> dict[NamedNode, frozenset[Quad]]:
    """The same, but no actuator gets a name that another one has: by two nobody could be called.

    Who has a name keeps it, otherwise the first to come.
    """
    said, given = InStore(engine), set[Term]()
    taken = set()
    for node in sorted(wanted, key=lambda node: (not _named(said.of(node)), node.value)):
        for quad in _named(wanted[node]):
            if quad.object in given or said.naming(_NAME, quad.object) - {node}:
                taken.add(quad)
            given.add(quad.object)
    return {node: quads - taken for node, quads in wanted.items()}


def _named(quads: Iterable[Quad]) -> list[Quad]:
    return [quad for quad in quads if quad.predicate == _NAME]


def _acting(quad: Quad, said: Mapping[NamedNode, Term]) -> Quad:
    """What an actuator says, with the property, feature, sensor and unit of its mapping."""
    same = _ACTS_ON.get(quad.predicate)
    value = quad.object if same is None else said.get(same, quad.object)
    return Quad(quad.subject, quad.predicate, value, MAPPINGS_GRAPH)


def _is_sound(quad: Quad) -> bool:
    """Not a link to what is the template of an IRI."""
    return quad.predicate not in _LINKS or isinstance(quad.object, NamedNode)


def described(engine: Engine, proposal: StoredProposal, mapping: Iterable[Quad]) -> Iterable[Quad]:
    """What SOSA says of the sensor, the property, the device and its surroundings.

    Statements of the default graph that stay when the mapping goes: observations refer to them. A
    label that is there is left alone.
    """
    said = {quad.predicate: quad.object for quad in mapping}
    sensor, observed = said.get(_SENSOR), said.get(_PROPERTY)
    if not isinstance(sensor, NamedNode) or not isinstance(observed, NamedNode):
        return
    yield Quad(sensor, TYPE, NamedNode(SOSA + "Sensor"))
    yield Quad(sensor, NamedNode(SOSA + "observes"), observed)
    yield Quad(observed, TYPE, NamedNode(SOSA + "ObservableProperty"))
    yield Quad(observed, TYPE, NamedNode(GW + proposal.kind.value))
    labels = {sensor: proposal.value(LABEL)}
    term = VOCABULARY.get(observed.value.removeprefix(BASE))
    if term is not None:
        labels[observed] = term.label
    elif observed.value == proposal.value(_PROPERTY):
        yield Quad(observed, TYPE, _OWN_NAME)
        labels[observed] = unquote(observed.value.rpartition("/")[2])
    feature = said.get(_FEATURE)
    if isinstance(feature, NamedNode) and feature.value == proposal.value(_FEATURE):
        labels[feature] = proposal.text("device")
    platform = _platform(proposal.node.value)
    if platform is not None:
        yield Quad(sensor, NamedNode(SOSA + "isHostedBy"), platform)
        yield Quad(platform, TYPE, NamedNode(SOSA + "Platform"))
        labels[platform] = proposal.text("device")
    for node, label in labels.items():
        if label and not engine.store.match(node, LABEL, None, DEFAULT_GRAPH):
            yield Quad(node, LABEL, Literal(label))


def defect(proposal: StoredProposal) -> str:
    """Why its mapping would not compile by itself; "" where it would."""
    try:
        node, quads = mapping_node(proposal.mapping, "mapping")
        refused = Registry.compile([mapping_of(node, quads)])[1]
    except (ClientError, MappingError) as error:
        return str(error)
    return f"{refused[0].member}: {refused[0].reason}" if refused else ""


def _platform(mapping: str) -> NamedNode | None:
    """The device, from the IRI that `Names` of a proposal gave: `.../mapping/family/device/x`."""
    before, found, behind = mapping.partition("/mapping/")
    pieces = behind.split("/")
    return NamedNode(f"{before}/platform/{'/'.join(pieces[:2])}") if found and pieces[2:] else None


_LINKS = frozenset(_ACTS_ON) - {_UNIT}
"""Terms of an actuator that are links; what a template has in their place is none."""
