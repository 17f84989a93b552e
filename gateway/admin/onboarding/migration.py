"""Mappings that were accepted when their values were taken for something else.

Place on the way of the data: `sosa-gateway mapping migrate` asks for it, and every start. A
proposal that a device announces anew with another meaning waits as Status.CHANGED; to migrate is to
confirm all of them as one change, which is undone like any other. What names an old IRI is listed,
never rewritten.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import NamedNode, Quad

from adapters.values.mapping import Mapping as Decoding
from adapters.values.mapping import MappingError
from gateway.admin.onboarding.mentions import Mention, Mentions
from gateway.admin.onboarding.nodes import Nodes
from gateway.admin.onboarding.proposals import Status, StoredProposal
from gateway.engine import Engine
from gateway.ingest.mappings import mapping_of

_CLOSED_IS_TRUE = frozenset({"contact", "garage_door_contact"})
"""Members of Zigbee2MQTT whose true is closed; earlier versions took it for open."""


@dataclass(frozen=True, slots=True)
class Outdated:
    """A mapping in force, and what its values are by what the device announces now.

    `is_inverted`: it says true of what is false.
    """

    proposal: StoredProposal
    before: str
    after: str
    is_inverted: bool


@dataclass(frozen=True, slots=True)
class Migration:
    """What is to be migrated, and who names what it leaves behind."""

    outdated: tuple[Outdated, ...]
    mentions: tuple[Mention, ...]


def migration(
    engine: Engine, proposals: Iterable[StoredProposal], mapped: Nodes, mentions: Mentions
) -> Migration:
    """What there is to migrate now; in the scheduler's thread."""
    changed = [each for each in proposals if each.status is Status.CHANGED and each.node in mapped]
    outdated = tuple(_outdated(each, mapped[each.node]) for each in changed)
    left = {each.before for each in outdated if each.before != each.after}
    left |= {each.before for each in outdated if each.is_inverted}
    own = frozenset(each.node for each in changed) | _actuators(changed)
    named = [
        mention
        for iri in sorted(left)
        for mention in (*mentions.in_texts(engine, iri), *mentions.of_property(engine, iri, own))
    ]
    found = [*named, *mentions.of_base(engine)] if left else []
    return Migration(outdated, tuple(dict.fromkeys(found)))


def inverted(mappings: Iterable[Decoding]) -> list[str]:
    """The mappings, by IRI, that are known to say the contrary of what is."""
    return sorted(each.iri for each in mappings if _is_inverted(each))


def _outdated(proposal: StoredProposal, quads: frozenset[Quad]) -> Outdated:
    after = proposal.text("observedProperty")
    try:
        mapping = mapping_of(proposal.node, quads)
    except MappingError:
        return Outdated(proposal, "", after, is_inverted=False)
    return Outdated(proposal, mapping.observed_property, after, _is_inverted(mapping))


def _is_inverted(mapping: Decoding) -> bool:
    is_opening = mapping.observed_property.rpartition("/")[2] == "opening"
    is_contact = mapping.selector in _CLOSED_IS_TRUE and mapping.format == "zigbee2mqtt"
    return is_opening and is_contact and mapping.false_value != "true"


def _actuators(proposals: Iterable[StoredProposal]) -> frozenset[NamedNode]:
    subjects = (quad.subject for each in proposals for quad in each.actuator)
    return frozenset(each for each in subjects if isinstance(each, NamedNode))
