"""Per family: valid payloads become triples that the shapes allow; no bytes raise an exception."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import QueryTriples, RdfFormat, serialize
from pyshacl import validate
from rdflib import Graph

import ontologies
from adapters.discovery import Discovery
from adapters.families import FORMATS
from adapters.registry import Registry
from adapters.values.mapping import Mapping
from adapters.values.message import Message
from adapters.values.observation import Observation
from bench.families.cases import RECEIVED, varied
from gateway.config.settings import Config
from gateway.engine import Engine
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.journal import Position, Record
from gateway.profiles import Profiles
from tests.adapters.formats.kit import (
    CASES,
    FAMILIES,
    assert_sound,
    damaged,
    family_messages,
    registry,
)

SHAPES = Graph().parse(Path(ontologies.__path__[0]) / "shapes.ttl")
MOST_VALIDATED = 40
"""Observations of a family: SHACL takes its time."""


def observations(family: str, dice: random.Random) -> list[Observation]:
    """Observations of each valid message as it is, and with other numbers."""
    found: list[Observation] = []
    for case in CASES:
        if case.family == family and case.mappings:
            for turn in range(4):
                decode = registry(case).decode
                for sent in case.sent:
                    is_varied = turn and sent.expected.get("valid", True)
                    message = varied(dice, sent.message) if is_varied else sent.message
                    found += decode(message).observations
    return found


def triples(found: list[Observation]) -> Graph:
    """What the gateway's own templates write of the observations."""
    identity = Identity("https://example.org/", "test")
    templates = ObservationTemplates(Profiles.load(Config().jsap.profiles), identity)
    engine = Engine.open()
    for sequence, observation in enumerate(found, 1):
        record = Record(Position(1, sequence), sequence, observation, RECEIVED)
        engine.update(list(templates.observed(record)))
    constructed = engine.query("CONSTRUCT WHERE { ?s ?p ?o }")
    assert isinstance(constructed, QueryTriples)
    written = serialize(constructed, format=RdfFormat.N_TRIPLES)
    engine.close()
    assert written is not None
    return Graph().parse(data=written, format="nt")


@pytest.mark.parametrize("family", FAMILIES)
def test_valid_payloads_become_triples_that_the_shapes_allow(family: str) -> None:
    dice = random.Random(family)
    found = list(dict.fromkeys(observations(family, dice)))
    if not found:
        assert not any(case.mappings for case in CASES if case.family == family)
        return
    dice.shuffle(found)
    conforms, _, report = validate(triples(found[:MOST_VALIDATED]), shacl_graph=SHAPES)
    assert conforms, report


@pytest.mark.parametrize("family", FAMILIES)
def test_any_bytes_on_any_topic_of_the_family_raise_nothing(family: str) -> None:
    dice = random.Random(family)
    recorded = list(family_messages(family))
    discovery = Discovery()
    decoders = {case.name: registry(case).decode for case, _ in recorded}
    for _ in range(600):
        case, message = dice.choice(recorded)
        payload = damaged(dice, dice.choice((message.payload, dice.randbytes(20), b"")))
        broken = Message(message.topic, payload, message.received_at)
        assert_sound(decoders[case.name](broken))
        discovery.discover(broken)


LEVELS = ("", "$state", "5", "online", "status", "availability", "bridge", "LWT", "set", "config")
SELECTORS = ("", "temperature", "$.a", "#1", "u8@0", "(.*)", "{{ value }}", "event.input:0", "*")
FILTERS = ("#", "+/+/+/#", "+/5/+/+/+", "+/+/state")


def strange_topics(dice: random.Random) -> Iterator[str]:
    """Topics of no device and of too few or too many levels."""
    known = [
        level for case in CASES for sent in case.sent for level in sent.message.topic.split("/")
    ]
    for _ in range(300):
        levels = dice.choices((*LEVELS, *known), k=dice.randrange(1, 7))
        yield "/".join(levels)


@pytest.mark.parametrize("name", FORMATS)
def test_strange_topics_raise_nothing(name: str) -> None:
    dice = random.Random(name)
    own = [each for case in CASES for each in case.mappings if each.format == name]
    selectors = dict.fromkeys((*SELECTORS, *(each.selector for each in own)))
    filters = dict.fromkeys((*FILTERS, *(each.topic_filter for each in own)))
    every = [
        Mapping(f"urn:m:{number}", topic, name, "urn:s", "urn:p", "urn:f", selector)
        for number, selector in enumerate(selectors)
        for topic in filters
    ]
    registry, errors = Registry.compile(every)
    assert len(errors) < len(every)
    recorded = [sent.message.payload for case in CASES for sent in case.sent]
    for topic in strange_topics(dice):
        payload = damaged(dice, dice.choice(recorded))
        assert_sound(registry.decode(Message(topic, payload, RECEIVED)))
