"""A proposal becomes a mapping: what its nodes are to say, and what SOSA says of the device.

Place on the way of the data: between a person's decision and the scheduler, in whose thread these
functions are called. One Delta has it all: the mapping and its actuator in their graph, what the
sensor is in the default graph, the status, and the record by which it is undone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from pyoxigraph import Literal, NamedNode, Quad

from adapters.registry import Registry
from adapters.values.mapping import MappingError
from adapters.values.properties import BASE, VOCABULARY
from adapters.values.properties import Kind as PropertyKind
from gateway.admin.onboarding.changes import Author, Kind, MappingChange, replacing, require_good
from gateway.admin.onboarding.edits import mapping_node, members_with
from gateway.admin.onboarding.nodes import ACTUATOR, TYPE, InStore, Said, nodes_of
from gateway.admin.onboarding.proposal_graph import proposal_at
from gateway.admin.onboarding.proposals import LABEL, Status, StoredProposal
from gateway.admin.onboarding.rebase import rebased
from gateway.engine import Engine
from gateway.errors import ClientError
from gateway.ingest.mappings import mapping_of
from gateway.rdf.delta import Delta, quads_delta
from gateway.rdf.namespaces import GW, MAPPINGS_GRAPH, SOSA, SSN
from gateway.rdf.terms import DEFAULT_GRAPH, Term
from jsap.extended.quads import is_member

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


@dataclass(frozen=True, slots=True)
class Left:
    """A proposal that was not made a mapping, and why."""

    proposal: StoredProposal
    reason: str


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What a confirmation does: the Delta, its record, and what it leaves."""

    delta: Delta
    change: MappingChange | None
    left: tuple[Left, ...] = ()


def confirming(
    engine: Engine,
    proposals: Sequence[StoredProposal],
    changes: Mapping[str, object],
    identity: str,
    kind: Kind = Kind.CONFIRM,
) -> Confirmed:
    """Make proposals mappings, with other members where `changes` has them.

    Of several, diagnostics keep the device as their feature, and one that does not compile is left.
    Raises InvalidMappingError where none compiles; nothing is changed then.
    """
    said = InStore(engine)
    wanted: dict[NamedNode, frozenset[Quad]] = {}
    taken, left, error = [], [], None
    for each in proposals:
        own = changes if len(proposals) == 1 else _shared(each, changes)
        try:
            nodes = _changed(each, followed(said, each.before, each), own)
            require_good(said, nodes)
        except ClientError as refused:
            error = refused
            left.append(Left(each, str(refused)))
            continue
        wanted |= nodes
        taken.append(each)
    if not taken and error is not None:
        raise error
    told = [quad for each in taken for quad in described(engine, each, wanted[each.node])]
    wanted = with_own_names(engine, wanted)
    require_good(said, wanted)
    delta, change = replacing(engine, wanted, Author.now(identity, kind))
    status = deciding(engine, taken, Status.CONFIRMED)
    both = quads_delta([*told, *delta.added, *status.added], [*delta.removed, *status.removed])
    return Confirmed(both, change, tuple(left))


def _shared(proposal: StoredProposal, changes: Mapping[str, object]) -> Mapping[str, object]:
    """What is said of all of a device's values: its own battery is in no room."""
    if proposal.kind is not PropertyKind.DIAGNOSTIC:
        return changes
    return {name: value for name, value in changes.items() if name != "feature"}


def followed(
    said: Said, before: StoredProposal | None, proposal: StoredProposal
) -> dict[NamedNode, frozenset[Quad]]:
    """What the nodes of a proposal are to say, with what a person has set since `before`."""
    target = wanted_by(proposal, {})
    now = {node: said.of(node) for node in target}
    if before is None or not now[proposal.node]:
        return target
    return rebased(wanted_by(before, {}), {n: quads for n, quads in now.items() if quads}, target)


def _changed(
    proposal: StoredProposal,
    nodes: dict[NamedNode, frozenset[Quad]],
    changes: Mapping[str, object],
) -> dict[NamedNode, frozenset[Quad]]:
    """With the members that a person gives, in the mapping and in its actuator."""
    if not changes:
        return nodes
    mapping = frozenset(quad for quad in nodes[proposal.node] if quad.predicate != ACTUATOR)
    beside = frozenset().union(*(quads for node, quads in nodes.items() if node != proposal.node))
    changed = wanted_by(StoredProposal(proposal.node, mapping, beside), changes)
    others = frozenset(quad for quad in mapping if not is_member(quad))
    return {**changed, proposal.node: changed[proposal.node] | others}


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
