"""Rollups as nodes `gw:Rollup`: the figures of one stream in one minute, hour or day.

Place on the way of the data: `export-rdf --of rollups`. They are no `sosa:Observation`, on purpose:
nobody measured a mean, and a query over observations must not count it. The terms are in
ontologies/gateway.ttl, their meaning is that of the table (transforms/rollup.py).
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from spark_batch.transforms.ntriples import TYPE, about, escaped, iri, literal
from spark_batch.transforms.terms import GW, stamp

IRI_COLUMNS = ("base", "sensor", "property", "feature", "unit")
"""Columns of the rows that become IRIs."""

_NUMBERS = {
    "minimum": "least",
    "maximum": "greatest",
    "mean": "mean",
    "stddev": "standardDeviation",
    "first": "first",
    "last": "last",
    "time_weighted_mean": "timeWeightedMean",
    "covered_s": "coveredSeconds",
    "increase": "increase",
}


def rollup_iri() -> Column:
    """The same for the same bucket of the same stream."""
    stream = F.concat_ws("\n", *(F.coalesce(name, F.lit("")) for name in IRI_COLUMNS[1:]))
    digest = F.substring(F.sha2(stream, 256), 1, 24)
    home = F.concat(F.col("base"), F.col("gateway"), F.lit("/rollup/"), F.col("grain"))
    return F.concat(home, F.lit("/"), stamp(F.col("start")), F.lit("/"), digest)


def rollups(graph: Column | None) -> Column:
    """The statements of a row of the table `rollup` with its `base`."""
    facts = [
        (TYPE, F.lit(f"<{GW}Rollup>")),
        (f"<{GW}rollupOfSensor>", iri(F.col("sensor"))),
        (f"<{GW}rollupOfProperty>", iri(F.col("property"))),
        (f"<{GW}rollupOfFeature>", iri(F.col("feature"))),
        ("<http://qudt.org/schema/qudt/hasUnit>", iri(F.col("unit"))),
        (f"<{GW}grain>", literal(F.col("grain"), "string")),
        (f"<{GW}start>", literal(stamp(F.col("start")), "dateTime")),
        (f"<{GW}count>", literal(F.col("count").cast("string"), "integer")),
        *(
            (f"<{GW}{term}>", literal(F.col(name).cast("string"), "double"))
            for name, term in _NUMBERS.items()
        ),
        (f"<{GW}lastText>", literal(escaped(F.col("last_text")), "string")),
        (f"<{GW}resets>", literal(F.col("resets").cast("string"), "integer")),
    ]
    return about(iri(rollup_iri()), facts, graph)
