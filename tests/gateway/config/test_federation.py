"""Settings of the federation that cannot be are said; graphs that peers may read are as written."""

import pytest
from pydantic import ValidationError
from pyoxigraph import NamedNode

from gateway.config.federation import FederationSettings
from gateway.config.settings import Config
from gateway.rdf.namespaces import OWN_GRAPHS
from gateway.rdf.terms import DEFAULT_GRAPH


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"via": "http://attic"}, "via"),
        ({"via": "attic.local", "peers": {"hall": {"at": "h:1"}}}, "leave it out"),
        ({"listen": "127.0.0.1:1", "peers": {"hall": {}}}, "say where it listens"),
        ({"peers": {"hall": {"at": "127.0.0.1:1"}}}, "nowhere to listen"),
        ({"read": ["no iri"]}, "IRI of a graph"),
        ({"via": "a", "peers": {"hall": {"read": ["<urn:g>"]}}}, "IRI of a graph"),
        *(({"read": [graph.value]}, "own graphs") for graph in OWN_GRAPHS),
        *(
            ({"via": "a", "peers": {"hall": {"read": [graph.value]}}}, "own graphs")
            for graph in OWN_GRAPHS
        ),
    ],
)
def test_what_cannot_be_is_said(given: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        FederationSettings.model_validate(given)


def test_peers_may_read_what_is_written_and_the_default_graph_else() -> None:
    plain = FederationSettings.model_validate({"via": "attic.local"})
    assert plain.may_read() == frozenset({DEFAULT_GRAPH})
    assert plain.peer_may_read() == {}
    assert plain.is_on
    assert not FederationSettings().is_on
    some = FederationSettings.model_validate(
        {
            "via": "attic.local:1",
            "read": [],
            "peers": {"hall": {"read": ["default", "urn:g"]}, "yard": {"read": []}, "attic": {}},
        }
    )
    assert some.may_read() == frozenset()
    expected = {"hall": {DEFAULT_GRAPH, NamedNode("urn:g")}, "yard": frozenset()}
    assert some.peer_may_read() == expected


def test_events_are_kept_where_others_may_miss_them() -> None:
    alone: dict[str, str] = {}
    listening = {"listen": "127.0.0.1:7447"}
    for federation, log, kept in (
        (alone, "federation", False),
        (listening, "federation", True),
        ({"via": "attic.local"}, "federation", True),
        (listening, False, False),
        (alone, True, True),
    ):
        config = Config.model_validate({"federation": federation, "events": {"log": log}})
        assert config.keeps_events is kept
    assert not Config().keeps_events
