"""What the graph calls the things of streams, for people elsewhere."""

from contextlib import closing

from gateway.engine import Engine
from gateway.ingest.labels import labels_of_streams
from gateway.rdf.namespaces import RDFS


def test_sensors_properties_and_features_have_their_labels_and_nothing_else() -> None:
    with closing(Engine.open()) as engine:
        engine.update(
            f"""PREFIX rdfs: <{RDFS}> INSERT DATA {{
                <urn:s> rdfs:label "Fühler"@de, "the sensor"@en . <urn:f> rdfs:label "Flur"@de .
                <urn:other> rdfs:label "no stream has it" . <urn:p> rdfs:label <urn:no-label> }}"""
        )
        found = labels_of_streams(engine.query, [("urn:s", "urn:p", "urn:f"), ("urn:t",) * 3])
    assert found == {"urn:s": "the sensor", "urn:f": "Flur"}
