"""What the families propose to command becomes actuators that take what is proposed."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from adapters.discovery import Discovery
from adapters.values.proposal import Proposal
from gateway.actuation.actuators import Actuators
from gateway.actuation.values import value_of
from gateway.admin.onboarding.proposals import _actuator
from gateway.config.settings import Config
from gateway.engine import Engine
from gateway.profiles import Profiles
from gateway.rdf.namespaces import MAPPINGS_GRAPH
from tests.adapters.formats.kit import CASES

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
QUERY = Profiles.load(Config().jsap.profiles).query_text("ACTUATORS")


def test_every_proposed_command_is_an_actuator_that_takes_its_values() -> None:
    families: Counter[str] = Counter()
    for case in CASES:
        discovery = Discovery()
        proposals = {
            proposal.mapping.iri: proposal
            for sent in case.sent
            for proposal in discovery.discover(sent.message).proposals
            if proposal.command
        }
        if proposals:
            families[case.family] += check(proposals.values())
    assert families.keys() >= {"zigbee2mqtt", "tasmota", "shelly", "esphome", "homie", "sparkplug"}
    assert families["homeassistant"] > 80


def check(proposals: Iterable[Proposal]) -> int:
    """How many of them are actuators; a house has each name once."""
    engine = Engine.open()
    actuators = Actuators()
    actuators.learn(engine.subscribe(QUERY))
    for proposal in proposals:
        triples = " . ".join(f"{q.subject} {q.predicate} {q.object}" for q in _actuator(proposal))
        text = f"INSERT DATA {{ GRAPH {MAPPINGS_GRAPH} {{ {triples} }} }}"
        for told in engine.update(text).notifications:
            actuators.learn(told)
    engine.close()
    assert not actuators.errors
    for actuator in actuators.by_iri.values():
        for value in actuator.values or (str(actuator.minimum or 0),):
            assert actuator.message(value_of(value), NOW).payload
    return len(actuators.by_iri)
