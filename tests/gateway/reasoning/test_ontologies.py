"""Ontologies as files: what of them is kept, what is refused, what a changed file changes."""

from pathlib import Path

import pytest
from pyoxigraph import NamedNode, Quad

from gateway.errors import OntologyError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import ONTOLOGY_GRAPH, RDFS
from gateway.reasoning.loaded import Ontologies
from gateway.reasoning.ontologies import OntologyFile, load_ontology, ontology_path, shipped
from gateway.store.quad_store import QuadStore

GATEWAY = NamedNode("urn:gateway")
PREFIXES = """@prefix : <urn:x:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix sh: <http://www.w3.org/ns/shacl#> .
"""
STUDENT = ":Student owl:equivalentClass [ owl:intersectionOf (:Person [ a owl:Restriction ; "
STUDENT += "owl:onProperty :takes ; owl:someValuesFrom :Course ]) ] .\n"


def written(folder: Path, text: str, name: str = "house.ttl") -> Path:
    path = folder / name
    path.write_text(PREFIXES + text)
    return path


def ontologies(*paths: Path, annotations: bool = False) -> Ontologies:
    return Ontologies(tuple(map(OntologyFile.at, paths)), annotations)


def subclass(sub: str, sup: str) -> Quad:
    predicate = NamedNode(f"{RDFS}subClassOf")
    return Quad(NamedNode(f"urn:x:{sub}"), predicate, NamedNode(f"urn:x:{sup}"), ONTOLOGY_GRAPH)


def loaded(store: QuadStore, of: Ontologies) -> Delta:
    delta = of.delta(store, GATEWAY)
    store.apply(delta)
    return delta


def axioms(store: QuadStore) -> set[Quad]:
    return set(store.match(None, None, None, ONTOLOGY_GRAPH))


def test_labels_and_shapes_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        ':A rdfs:subClassOf :B ; rdfs:label "a" . :A a sh:NodeShape ; sh:in (:B :C) . :s :p 1 .',
    )
    assert load_ontology(path) == (subclass("A", "B"),)
    assert len(load_ontology(path, annotations=True)) == 9


def test_the_same_file_says_the_same_twice(tmp_path: Path) -> None:
    path = written(tmp_path, STUDENT + "[] a owl:AllDisjointClasses ; owl:members (:A :B) .")
    first = load_ontology(path)
    assert len(first) == 15
    assert load_ontology(path) == first


def test_a_circle_of_blank_nodes_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, "_:a rdfs:subClassOf _:b . _:b rdfs:subClassOf _:a .")
    assert len(load_ontology(path)) == 2
    assert load_ontology(path) == load_ontology(path)


def test_a_long_list_is_read(tmp_path: Path) -> None:
    members = " ".join(f":c{number}" for number in range(900))
    path = written(tmp_path, f":A owl:equivalentClass [ owl:unionOf ({members}) ] .")
    assert len(load_ontology(path)) == 1802


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (":A rdfs:subClassOf <NoScheme> .", "house.ttl:3: .*No scheme found"),
        (":A rdfs:subClassOf", "house.ttl:3: "),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(OntologyError, match=reason):
        load_ontology(written(tmp_path, text))


def test_a_file_that_is_not_there_or_of_no_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(OntologyError, match=r"nowhere\.ttl cannot be read: No such file"):
        OntologyFile.at(tmp_path / "nowhere.ttl")
    with pytest.raises(OntologyError, match=r"house\.doc is of no known format"):
        load_ontology(written(tmp_path, "", "house.doc"))


def test_a_file_that_changes_meanwhile_is_refused(tmp_path: Path) -> None:
    file = OntologyFile.at(written(tmp_path, ":A rdfs:subClassOf :B ."))
    written(tmp_path, ":A rdfs:subClassOf :C .")
    with pytest.raises(OntologyError, match="changes while it is read"):
        file.quads()


def test_a_bare_word_is_an_ontology_that_ships() -> None:
    assert ontology_path("sosa-profile", "") == shipped()["sosa-profile"]
    assert ontology_path("my/own", "") == Path("my/own")
    with pytest.raises(OntologyError, match="here: no ontology 'sosa' ships"):
        ontology_path("sosa", "here")


@pytest.mark.parametrize("name", sorted(shipped()))
def test_what_ships_can_be_read(name: str) -> None:
    load_ontology(shipped()[name])


def test_files_come_into_the_store_once(tmp_path: Path) -> None:
    store = QuadStore.open(None)
    path = written(tmp_path, ":A rdfs:subClassOf :B .")
    assert subclass("A", "B") in loaded(store, ontologies(path)).added
    assert loaded(store, ontologies(path)).is_empty
    store.apply(Delta(removed=(subclass("A", "B"),)))
    assert loaded(store, ontologies(path)).is_empty, "what an UPDATE took away stays away"


def test_a_changed_file_changes_its_own_axioms_alone(tmp_path: Path) -> None:
    store = QuadStore.open(None)
    path = written(tmp_path, STUDENT + ":A rdfs:subClassOf :B . :B rdfs:subClassOf :C .")
    loaded(store, ontologies(path))
    store.apply(Delta((subclass("A", "D"),)))
    written(tmp_path, STUDENT + ":B rdfs:subClassOf :C . :A rdfs:subClassOf :E .")
    delta = loaded(store, ontologies(path))
    about = [quad for quad in delta.added if quad.graph_name == ONTOLOGY_GRAPH]
    gone = [quad for quad in delta.removed if quad.graph_name == ONTOLOGY_GRAPH]
    assert (about, gone) == ([subclass("A", "E")], [subclass("A", "B")])
    assert subclass("A", "D") in axioms(store)


def test_what_two_files_say_stays_until_none_says_it(tmp_path: Path) -> None:
    store = QuadStore.open(None)
    one = written(tmp_path, ":A rdfs:subClassOf :B .", "one.ttl")
    two = written(tmp_path, ":A rdfs:subClassOf :B . :B rdfs:subClassOf :C .", "two.ttl")
    loaded(store, ontologies(one, two))
    loaded(store, ontologies(one))
    assert axioms(store) == {subclass("A", "B")}
    loaded(store, ontologies())
    assert axioms(store) == set()
    assert loaded(store, ontologies()).is_empty


def test_annotations_come_and_go_with_the_setting(tmp_path: Path) -> None:
    store = QuadStore.open(None)
    path = written(tmp_path, ':A rdfs:subClassOf :B ; rdfs:label "a" .')
    loaded(store, ontologies(path))
    assert len(axioms(store)) == 1
    loaded(store, ontologies(path, annotations=True))
    assert len(axioms(store)) == 2
    loaded(store, ontologies(path))
    assert len(axioms(store)) == 1
