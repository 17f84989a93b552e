"""Commands that were sent as `sosa:Actuation`, in the terms of the gateway's graph of actuations.

Place on the way of the data: `export-rdf --of actuations`. A command is `gw:Sent` where the archive
has no line of how it ended. Its result is the payload as it was published, where the gateway's
store has the value that was asked for. Source: docs/segments.md, members `a`, `o`, `x`, `y`.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_batch.transforms.lines import lexical_form
from spark_batch.transforms.ntriples import TYPE, about, escaped, iri, literal
from spark_batch.transforms.terms import GW, ingest_time, stamp

IRI_COLUMNS = (
    "base",
    "sensor",
    "property",
    "feature",
    "datatype",
    "rule",
    "actuation",
    "confirmed_by",
)
"""Columns of the table that become IRIs."""

_SOSA = "http://www.w3.org/ns/sosa/"


_OUTCOME = ("outcome", "ended_time", "confirmed_by", "failure")
_ENDS = ("Confirmed", "Failed", "Superseded")


def with_outcomes(rows: DataFrame) -> DataFrame:
    """The commands among rows of the table, with how each ended: as the first line of that says.

    The line of an end has the time of its command, so both are of one day.
    """
    told = F.min_by(F.struct(*_OUTCOME), F.struct("epoch", "sequence"))
    is_end = (F.col("kind") == "outcome") & F.col("outcome").isin(*_ENDS)
    ends = rows.where(is_end).groupBy("gateway", "actuation").agg(told.alias("end"))
    commands = rows.where("kind = 'actuation'").drop(*_OUTCOME)
    joined = commands.join(ends, ["gateway", "actuation"], "left")
    return joined.select("*", "end.*").drop("end")


def actuation_iri() -> Column:
    """That of the gateway's store, or of the journal's line where it was not there."""
    home = F.concat(F.col("base"), F.col("gateway"), F.lit("/actuation/"))
    own = F.concat(home, F.col("epoch").cast("string"), F.lit("-"), F.col("sequence"))
    return F.coalesce("actuation", own)


def actuations(graph: Column | None) -> Column:
    """The statements of a row that is an actuation."""
    ended = literal(stamp(F.col("ended_time")), "dateTime")
    facts = [
        (TYPE, F.lit(f"<{_SOSA}Actuation>")),
        (f"<{_SOSA}madeByActuator>", iri(F.col("sensor"))),
        (f"<{_SOSA}hasSimpleResult>", literal(escaped(lexical_form()), F.col("datatype"))),
        (f"<{GW}status>", iri(F.concat(F.lit(GW), F.coalesce("outcome", F.lit("Sent"))))),
        (f"<{GW}sentAt>", literal(stamp(ingest_time()), "dateTime")),
        (f"<{GW}endedAt>", ended),
        (f"<{_SOSA}resultTime>", F.when(F.col("outcome") == "Confirmed", ended)),
        (f"<{_SOSA}relatedObservation>", iri(F.col("confirmed_by"))),
        (f"<{GW}failureReason>", literal(escaped(F.col("failure")), "string")),
        (f"<{GW}sentTopic>", literal(escaped(F.col("topic")), "string")),
        (f"<{_SOSA}actsOnProperty>", iri(F.col("property"))),
        (f"<{_SOSA}hasFeatureOfInterest>", iri(F.col("feature"))),
        (f"<{_SOSA}usedProcedure>", iri(F.col("rule"))),
    ]
    return about(iri(actuation_iri()), facts, graph)
