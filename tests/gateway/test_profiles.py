"""The profiles of a gateway together: what of them comes into the store."""

from pyoxigraph import Literal, NamedNode

from gateway.profiles import Profiles
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.namespaces import GW, XSD
from jsap import Profile
from jsap.extended.quads import mapping_quads

ACTUATOR = {
    "id": "urn:dimmer",
    "topic": "dimmer/set",
    "format": "scalar",
    "property": "urn:p",
    "feature": "urn:f",
    "maximum": 100.0,
}


def test_literals_of_mappings_are_as_the_store_gives_them_back() -> None:
    """Or else a later change that is none would be told as one."""
    profile = Profile.parse({"extended": {"actuators": [ACTUATOR]}}, source="own.jsap")
    quads = Profiles.of([profile]).mappings
    assert quads == tuple(map(canonical_quad, mapping_quads(profile)))
    [maximum] = [quad.object for quad in quads if quad.predicate == NamedNode(f"{GW}maximum")]
    assert maximum == Literal("100", datatype=NamedNode(f"{XSD}decimal"))
