"""The namespaces that the gateway writes, and the graphs it keeps for itself."""

from pyoxigraph import NamedNode

GW = "https://sosa-gateway.example/ns#"
SOSA = "http://www.w3.org/ns/sosa/"
SSN = "http://www.w3.org/ns/ssn/"
QUDT = "http://qudt.org/schema/qudt/"
UNIT = "http://qudt.org/vocab/unit/"
TIME = "http://www.w3.org/2006/time#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"
OWL = "http://www.w3.org/2002/07/owl#"

OBSERVATIONS = GW + "observations"
"""The stream that every observation enters (docs/windows.md)."""

MAPPINGS_GRAPH = NamedNode("https://sosa-gateway.example/graph/mappings")
"""Mappings and republish rules: configuration as data."""

STATE_GRAPH = NamedNode("https://sosa-gateway.example/graph/state")
"""The gateway's own bookkeeping: the last applied journal position."""

PROPOSALS_GRAPH = NamedNode("https://sosa-gateway.example/graph/proposals")
"""Mappings that devices propose; what stands there decodes nothing."""

CHANGES_GRAPH = NamedNode("https://sosa-gateway.example/graph/mapping-changes")
"""How mappings were changed, and how to undo it."""

ALARMS_GRAPH = NamedNode("https://sosa-gateway.example/graph/alarms")
"""What a person has to look after now (docs/alarms.md)."""

CLOCK = NamedNode(GW + "clock")
"""The SPARQL function that reads the engine's clock: Unix time in µs, an `xsd:integer`."""

DELAYED_GRAPH = NamedNode("https://sosa-gateway.example/graph/delayed")
"""The UPDATEs that wait for their time (gateway/engine/delayed.py)."""

ACTUATIONS_GRAPH = NamedNode("https://sosa-gateway.example/graph/actuations")
"""What actuators were asked to do, and what became of it (docs/actuators.md)."""

ONTOLOGY_GRAPH = NamedNode("https://sosa-gateway.example/graph/ontology")
"""The axioms that are reasoned by (gateway/reasoning)."""

CONTRADICTIONS_GRAPH = NamedNode("https://sosa-gateway.example/graph/contradictions")
"""What axioms exclude and data say all the same: derived, never asserted."""

FEDERATION_GRAPH = NamedNode("https://sosa-gateway.example/graph/federation")
"""The other gateways of the federation, and how they are (docs/federation.md)."""

OWN_GRAPHS = frozenset(
    {
        FEDERATION_GRAPH,
        MAPPINGS_GRAPH,
        STATE_GRAPH,
        PROPOSALS_GRAPH,
        CHANGES_GRAPH,
        ALARMS_GRAPH,
        DELAYED_GRAPH,
        ACTUATIONS_GRAPH,
        ONTOLOGY_GRAPH,
        CONTRADICTIONS_GRAPH,
    }
)
"""All graphs that the gateway keeps for itself: none is reasoned on."""
