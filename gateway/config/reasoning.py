"""What is reasoned on: the section [reasoning], docs/reasoning.md.

Place: a part of `gateway.config.settings`; the engine is given it as domains and a bound.
"""

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pyoxigraph import NamedNode

from gateway.config.values import ONE_AS_LIST, Count, Section, is_iri
from gateway.rdf.namespaces import OWN_GRAPHS
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName
from gateway.reasoning.domains import Domain, Domains
from gateway.reasoning.ontologies import shipped

ALL_OTHERS = "*"
DEFAULT = "default"


def _graph(text: str) -> str:
    if text not in {DEFAULT, ALL_OTHERS}:
        _named_graph(text)
    return text


def _named_graph(text: str) -> str:
    if not is_iri(text):
        raise ValueError(f"write the IRI of a graph without <>, or '{DEFAULT}'")
    if NamedNode(text) in OWN_GRAPHS:
        raise ValueError("the gateway's own graphs are in no domain; leave it out")
    return text


def _part(text: str) -> str:
    if text == ALL_OTHERS:
        raise ValueError(f"name the graphs of a joint domain; '{ALL_OTHERS}' is for graphs alone")
    return _graph(text)


def _ontology_path(path: Path) -> Path:
    """A bare word names an ontology that ships; everything else is the path of a file."""
    if len(path.parts) != 1 or path.suffix:
        return path
    ships = shipped()
    if path.name not in ships:
        near = get_close_matches(path.name, ships, n=1)
        known = f"did you mean '{near[0]}'?" if near else f"those are {', '.join(ships)};"
        raise ValueError(
            f"no ontology '{path}' ships; {known} The name of a file ends in .ttl, .owl or the like"
        )
    return ships[path.name]


GraphWord = Annotated[str, AfterValidator(_graph)]
PartWord = Annotated[str, AfterValidator(_part)]
NamedGraph = Annotated[str, AfterValidator(_named_graph)]
OntologyPath = Annotated[Path, AfterValidator(_ontology_path)]


def _tables(value: object) -> object:
    return [value] if isinstance(value, dict) else value


class JointSettings(Section):
    """Graphs that are reasoned on as one; `into` holds what follows and nothing asserted."""

    graphs: Annotated[tuple[PartWord, ...], ONE_AS_LIST] = Field(min_length=1)
    into: NamedGraph


class ReasoningSettings(Section):
    """The graphs that are reasoned on, each for itself or jointly; without any, reasoning is off.

    `infer` is what a QUERY or SUBSCRIBE means that does not say. At most `derived` quads follow in
    all. Axioms are those of `ontologies`, names that ship or files, and what UPDATEs write; of the
    files all else, as labels and comments, is kept only with `annotations`.
    """

    graphs: Annotated[tuple[GraphWord, ...], ONE_AS_LIST] = ()
    infer: bool = False
    derived: Count = 500_000
    ontologies: Annotated[tuple[OntologyPath, ...], ONE_AS_LIST] = ()
    annotations: bool = False
    joint: Annotated[tuple[JointSettings, ...], BeforeValidator(_tables)] = ()

    @model_validator(mode="after")
    def _one_domain_a_graph(self) -> Self:
        if self.infer and not self.is_on:
            raise ValueError("infer = true needs graphs that are reasoned on: graphs or joint")
        seen = set(self.graphs)
        for joint in self.joint:
            for graph in (*joint.graphs, joint.into):
                if graph in seen:
                    raise ValueError(f"{graph} is in two domains; a graph is in one at most")
                seen.add(graph)
        return self

    @property
    def is_on(self) -> bool:
        """Whether anything is reasoned on."""
        return bool(self.graphs or self.joint)

    def domains(self) -> Domains:
        """What is reasoned on together."""
        named = [word for word in self.graphs if word != ALL_OTHERS]
        joint = tuple(
            Domain(frozenset(map(graph_of, each.graphs)), NamedNode(each.into))
            for each in self.joint
        )
        return Domains(frozenset(map(graph_of, named)), ALL_OTHERS in self.graphs, joint)

    def at(self, folder: Path) -> Self:
        """The same settings, relative paths taken from `folder`."""
        return self.model_copy(update={"ontologies": tuple(folder / x for x in self.ontologies)})


def graph_of(word: str) -> GraphName:
    """The graph that a setting names, not `*`."""
    return DEFAULT_GRAPH if word == DEFAULT else NamedNode(word)
