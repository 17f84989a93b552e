"""Commands that were sent as `sosa:Actuation`, in the terms of the gateway's graph of actuations.

Place on the way of the data: `export-rdf --of actuations`. The journal has what was sent and when,
not how it ended, so each is `gw:Sent`. Its result is the payload as it was published, where the
gateway's store has the value that was asked for. Source: docs/segments.md, members `a`, `o`, `x`.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from spark_batch.transforms.lines import lexical_form
from spark_batch.transforms.ntriples import TYPE, about, escaped, iri, literal
from spark_batch.transforms.terms import GW, ingest_time, stamp

IRI_COLUMNS = ("base", "sensor", "property", "feature", "datatype", "rule", "actuation")
"""Columns of the table that become IRIs."""

_SOSA = "http://www.w3.org/ns/sosa/"


def actuation_iri() -> Column:
    """That of the gateway's store, or of the journal's line where it was not there."""
    home = F.concat(F.col("base"), F.col("gateway"), F.lit("/actuation/"))
    own = F.concat(home, F.col("epoch").cast("string"), F.lit("-"), F.col("sequence"))
    return F.coalesce("actuation", own)


def actuations(graph: Column | None) -> Column:
    """The statements of a row that is an actuation."""
    facts = [
        (TYPE, F.lit(f"<{_SOSA}Actuation>")),
        (f"<{_SOSA}madeByActuator>", iri(F.col("sensor"))),
        (f"<{_SOSA}hasSimpleResult>", literal(escaped(lexical_form()), F.col("datatype"))),
        (f"<{GW}status>", F.lit(f"<{GW}Sent>")),
        (f"<{GW}sentAt>", literal(stamp(ingest_time()), "dateTime")),
        (f"<{GW}sentTopic>", literal(escaped(F.col("topic")), "string")),
        (f"<{_SOSA}actsOnProperty>", iri(F.col("property"))),
        (f"<{_SOSA}hasFeatureOfInterest>", iri(F.col("feature"))),
        (f"<{_SOSA}usedProcedure>", iri(F.col("rule"))),
    ]
    return about(iri(actuation_iri()), facts, graph)
