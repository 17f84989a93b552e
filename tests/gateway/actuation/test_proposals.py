"""What the families propose to command becomes actuators that take what is proposed."""

from collections import Counter
from datetime import UTC, datetime

from adapters.discovery import Discovery
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
    engine = Engine.open()
    actuators = Actuators()
    actuators.learn(engine.subscribe(QUERY))
    for case in CASES:
        discovery = Discovery()
        for sent in case.sent:
            for proposal in discovery.discover(sent.message).proposals:
                for quad in _actuator(proposal) if proposal.command else ():
                    triple = f"{quad.subject} {quad.predicate} {quad.object}"
                    text = f"INSERT DATA {{ GRAPH {MAPPINGS_GRAPH} {{ {triple} }} }}"
                    for told in engine.update(text).notifications:
                        actuators.learn(told)
                    families[proposal.family] += 1
    engine.close()
    assert not actuators.errors
    for actuator in actuators.by_iri.values():
        for value in actuator.values or (str(actuator.minimum or 0),):
            assert actuator.message(value_of(value), NOW).payload
    assert families.keys() >= {"zigbee2mqtt", "tasmota", "shelly", "esphome", "homie", "sparkplug"}
