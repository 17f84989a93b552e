"""Brick as `brickschema` has it: read and compiled in time and memory, a broken one refused."""

import time
import tracemalloc
from functools import cache
from pathlib import Path

import brickschema
import pytest
from pyoxigraph import NamedNode, Quad

from gateway.errors import OntologyError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import ONTOLOGY_GRAPH, RDF, RDFS
from gateway.reasoning.domains import Domains
from gateway.reasoning.ontologies import load_ontology
from gateway.reasoning.reasoner import Reasoner
from gateway.store.quad_store import QuadStore

VERSIONS = Path(brickschema.__path__[0]) / "ontologies"
BRICK = "https://brickschema.org/schema/Brick#"
GRAPH = NamedNode("urn:g")
TYPE = NamedNode(RDF + "type")


def brick(version: str) -> Path:
    return VERSIONS / version / "Brick.ttl"


@cache
def axioms(version: str) -> tuple[Quad, ...]:
    """Those of a version, read once."""
    return load_ontology(brick(version))


def reasoner(*quads: Quad) -> Reasoner:
    store = QuadStore.open(None)
    store.apply(Delta(added=quads))
    found = Reasoner(store, Domains(frozenset({GRAPH})), bound=100_000)
    found.start()
    return found


@pytest.mark.parametrize("version", ["1.2", "1.5"])
def test_brick_is_read_and_says_which_classes_are_sensors(version: str) -> None:
    derived = reasoner(*axioms(version)).derived
    below = NamedNode(RDFS + "subClassOf")
    sensor = NamedNode(BRICK + "Sensor")
    room = NamedNode(BRICK + "Zone_Air_Temperature_Sensor")
    assert derived.contains(Quad(room, below, sensor, ONTOLOGY_GRAPH))
    assert len(derived.match(None, below, sensor, ONTOLOGY_GRAPH)) > 100


def test_an_instance_has_all_its_classes_and_opposites() -> None:
    terms = {name: NamedNode(BRICK + name) for name in ("hasPoint", "isPointOf", "Sensor", "Point")}
    made = NamedNode(BRICK + "Zone_Air_Temperature_Sensor")
    device, room = NamedNode("urn:x:device"), NamedNode("urn:x:room")
    found = reasoner(
        *axioms("1.5"),
        Quad(device, TYPE, made, GRAPH),
        Quad(room, terms["hasPoint"], device, GRAPH),
    ).derived
    assert found.contains(Quad(device, terms["isPointOf"], room, GRAPH))
    assert found.contains(Quad(device, TYPE, terms["Sensor"], GRAPH))
    assert found.contains(Quad(device, TYPE, terms["Point"], GRAPH))
    assert not found.match(room, TYPE, None, GRAPH)


def test_an_iri_without_scheme_is_refused_with_its_line() -> None:
    with pytest.raises(OntologyError, match=r"1\.1/Brick\.ttl:9087: .*scheme"):
        load_ontology(brick("1.1"))


@pytest.mark.alone
def test_the_axioms_of_brick_take_little_time_and_memory() -> None:
    """CPU of reading and compiling, 0.8 s alone; then what compiling holds, by Python."""
    began = time.process_time()
    quads = load_ontology(brick("1.5"))
    found = reasoner(*quads)
    assert time.process_time() - began <= 2.0
    store = QuadStore.open(None)
    store.apply(Delta(added=quads))
    tracemalloc.start()
    try:
        found = Reasoner(store, Domains(frozenset({GRAPH})), bound=100_000)
        found.start()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.axioms) > 2_000
    assert held <= 15 * 1024 * 1024
