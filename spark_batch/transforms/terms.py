"""The terms of an observation as columns: IRIs without brackets, times as they are written.

Place on the way of the data: what the marks of a shape stand for, in exports and in queries. The
identity (gateway, epoch, sequence) makes the IRIs; docs/segments.md, "Derived".
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from spark_batch.transforms.lines import lexical_form

GW = "https://sosa-gateway.example/ns#"
UNITLESS = "http://qudt.org/vocab/unit/UNITLESS"


def terms() -> dict[str, Column]:
    """Each forced binding of the templates, by name: an IRI or a lexical form."""
    epoch, sequence = F.col("epoch").cast("string"), F.col("sequence")
    home = F.concat(F.col("base"), F.col("gateway"))
    own = F.concat(home, F.lit("/observation/"), epoch, F.lit("-"), sequence.cast("string"))
    first = (sequence - F.coalesce("message_lag", F.lit(0))).cast("string")
    time = stamp(F.col("result_time"))
    return {
        "observation": own,
        "message": F.concat(home, F.lit("/message/"), epoch, F.lit("-"), first),
        "sensor": F.col("sensor"),
        "property": F.col("property"),
        "feature": F.col("feature"),
        "result": lexical_form(),
        "resultNode": F.concat(own, F.lit("/result")),
        "unit": F.coalesce("unit", F.lit(UNITLESS)),
        "instant": F.concat(own, F.lit("/time")),
        "phenomenonStamp": time,
        "resultTime": time,
        "ingestedAt": stamp(ingest_time()),
        "timeSource": F.concat(F.lit(GW), time_source()),
    }


def ingest_time() -> Column:
    """When the gateway heard of the observation."""
    return F.timestamp_micros(F.unix_micros("result_time") + F.col("delay_us"))


def time_source() -> Column:
    """Whose clock the result time is; rows of older releases have it among unknown members."""
    told = F.coalesce("clock", F.get_json_object("ext", "$.z"), F.lit("DeviceClock"))
    return F.when(F.col("device_clock"), told).otherwise("GatewayClock")


def graph_iri(of: str = "") -> Column:
    """One graph for each gateway and day; what is no observation has graphs of its own."""
    day = F.col("day").cast("string")
    return F.concat(F.col("base"), F.col("gateway"), F.lit(f"/archive/{of}"), day)


def stamp(time: Column) -> Column:
    """UTC, with Z and no trailing zeros: the canonical form of xsd:dateTime."""
    return F.concat(F.replace(time.cast("string"), F.lit(" "), F.lit("T")), F.lit("Z"))
