"""The ontologies parse, say something of each term, and define every term that we use."""

import re
from pathlib import Path

import pytest
from pyoxigraph import NamedNode, Quad, RdfFormat, parse

import adapters
import gateway
import jsap
import ontologies
from adapters.values.observation import TimeSource
from adapters.values.properties import BASE, VOCABULARY, Kind, Shape
from adapters.values.units import unit_iri
from jsap.lexer import TokenKind, tokenize
from jsap.profile import load_profile

FOLDER = Path(ontologies.__path__[0])
PROFILES = Path(jsap.__path__[0]) / "profiles"
GW = "https://sosa-gateway.example/ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
FOREIGN = (
    "http://www.w3.org/ns/sosa/",
    "http://qudt.org/schema/qudt/",
    "http://www.w3.org/2006/time#",
    "http://www.opengis.net/ont/geosparql#",
)
FILES = sorted(FOLDER.glob("*.ttl"))


def statements(name: str) -> list[Quad]:
    return list(parse(path=str(FOLDER / name), format=RdfFormat.TURTLE))


def subjects(name: str, namespace: str) -> set[str]:
    return {
        quad.subject.value
        for quad in statements(name)
        if isinstance(quad.subject, NamedNode)
        and quad.subject.value.startswith(namespace)
        and quad.predicate == TYPE
    }


def profile_terms() -> set[str]:
    """Every IRI that the SPARQL texts of the shipped profiles name, prefixes expanded."""
    found: set[str] = set()
    for path in PROFILES.glob("*.jsap"):
        profile = load_profile(path)
        for template in (*profile.updates.values(), *profile.queries.values()):
            for token in tokenize(template.text):
                prefix, _, local = token.text.partition(":")
                if token.kind is TokenKind.PNAME and prefix in profile.namespaces and local:
                    found.add(profile.namespaces[prefix] + local)
    return found


def source_terms() -> set[str]:
    """The terms that code makes as `GW + "name"`, in a constant or in place."""
    folders = [Path(package.__path__[0]) for package in (adapters, gateway, jsap)]
    sources = [path.read_text() for folder in folders for path in folder.rglob("*.py")]
    found = {GW + name for text in sources for name in re.findall(r'\bGW \+ "(\w+)"', text)}
    return found | {GW + source.value for source in TimeSource}


def test_every_file_is_there() -> None:
    assert [path.name for path in FILES] == [
        "building.ttl",
        "gateway.ttl",
        "properties.ttl",
        "shapes.ttl",
        "sosa-profile.ttl",
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_file_states_something(path: Path) -> None:
    assert statements(path.name)


def test_every_term_of_ours_in_a_profile_is_defined() -> None:
    used = {iri for iri in profile_terms() if iri.startswith(GW)}
    assert used
    assert used <= subjects("gateway.ttl", GW)


def test_every_term_of_ours_in_the_code_is_defined() -> None:
    used = source_terms()
    assert GW + "DeviceClock" in used
    assert used <= subjects("gateway.ttl", GW)


@pytest.mark.parametrize("namespace", FOREIGN)
def test_every_foreign_term_in_a_profile_is_stated(namespace: str) -> None:
    used = {iri for iri in profile_terms() if iri.startswith(namespace)}
    assert used
    assert used <= subjects("sosa-profile.ttl", namespace)


def test_every_term_of_the_shapes_is_stated() -> None:
    known = subjects("gateway.ttl", GW).union(
        *(subjects("sosa-profile.ttl", namespace) for namespace in FOREIGN)
    )
    used = {
        node.value
        for quad in statements("shapes.ttl")
        if isinstance(node := quad.object, NamedNode) and node.value.startswith((GW, *FOREIGN))
    }
    assert used
    assert used <= known


@pytest.mark.parametrize(
    ("name", "namespaces"),
    [("gateway.ttl", (GW,)), ("properties.ttl", (BASE,)), ("sosa-profile.ttl", FOREIGN)],
)
@pytest.mark.parametrize("annotation", ["label", "comment"])
def test_every_term_is_annotated(name: str, namespaces: tuple[str, ...], annotation: str) -> None:
    annotated = [
        quad.subject.value
        for quad in statements(name)
        if quad.predicate.value == RDFS + annotation and isinstance(quad.subject, NamedNode)
    ]
    terms = set().union(*(subjects(name, namespace) for namespace in namespaces))
    assert terms
    for term in terms:
        assert annotated.count(term) == 1, term


def test_every_property_of_ours_has_domain_and_range() -> None:
    stated = statements("gateway.ttl")
    properties = {
        quad.subject
        for quad in stated
        if quad.predicate == TYPE and str(quad.object).endswith("Property>")
    }
    assert len(properties) > 20
    for part in ("domain", "range"):
        having = [quad.subject for quad in stated if quad.predicate.value == RDFS + part]
        assert properties == set(having)
        assert len(having) == len(properties)


def test_every_property_says_what_its_values_are() -> None:
    stated = statements("properties.ttl")
    quantities = {q.subject for q in stated if q.predicate.value.endswith("hasQuantityKind")}
    assert len(VOCABULARY) > 150
    for name, term in VOCABULARY.items():
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
        assert (NamedNode(BASE + name) in quantities) == (term.shape is Shape.NUMBER), name
        assert term.kind is not Kind.MEASUREMENT or term.shape is Shape.NUMBER, name
        assert all(unit_iri(unit) == unit for unit in term.units), name
    assert {VOCABULARY[name].shape for name in ("opening", "locked", "battery_low")} == {
        Shape.TRUTH
    }
