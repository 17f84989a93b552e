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
