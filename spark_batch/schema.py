"""The columns of the archive and of what is read: one versioned schema in code, never inferred.

Place on the way of the data: between segments (docs/segments.md) and tables (docs/archive.md).
Columns are only ever added, at the end; a table of an older release reads as if they were null.
"""

from typing import Final

from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

XSD: Final = "http://www.w3.org/2001/XMLSchema#"
NUMERIC: Final = tuple(
    XSD + name
    for name in (
        *("decimal", "integer", "double", "float", "long", "int", "short", "byte"),
        *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger"),
        *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
BOOLEAN: Final = XSD + "boolean"
WKT: Final = "http://www.opengis.net/ont/geosparql#wktLiteral"

_STRING, _LONG, _DOUBLE = StringType(), LongType(), DoubleType()
_TIMESTAMP, _BOOLEAN = TimestampType(), BooleanType()


def _struct(*columns: tuple[str, DataType]) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns])


CORRUPT: Final = "_corrupt"
SEGMENT_MEMBERS: Final = (
    *(("q", _LONG), ("a", _LONG), ("m", _LONG), ("s", _STRING), ("p", _STRING), ("f", _STRING)),
    *(("v", _STRING), ("d", _STRING), ("u", _STRING), ("t", _LONG), ("i", _LONG), ("c", _LONG)),
    *(("n", _STRING), ("o", _STRING), ("r", _STRING), ("h", _STRING), ("w", _STRING)),
    *(("z", _STRING), ("l", _LONG), ("x", _STRING), ("e", _LONG)),
    *(("y", _STRING), ("j", _LONG), ("b", _STRING), ("g", _STRING)),
    ("schema", _STRING),
)
LINES: Final = _struct(*SEGMENT_MEMBERS, (CORRUPT, _STRING))
"""A line of a segment, schema 1.4, without `k`; `schema` is the header's."""
KNOWN_MEMBERS: Final = (*(name for name, _ in SEGMENT_MEMBERS), "k")

OBSERVATIONS: Final = _struct(
    *(("gateway", _STRING), ("epoch", _LONG), ("sequence", _LONG), ("kind", _STRING)),
    *(("sensor", _STRING), ("property", _STRING), ("feature", _STRING)),
    *(("platform", _STRING), ("place", _STRING)),
    *(("result_time", _TIMESTAMP), ("delay_us", _LONG), ("device_clock", _BOOLEAN)),
    ("suspect_time", _TIMESTAMP),
    *(("number", _DOUBLE), ("boolean", _BOOLEAN), ("text", _STRING), ("geometry", _STRING)),
    *(("lexical", _STRING), ("datatype", _STRING), ("unit", _STRING)),
    *(("message_lag", _LONG), ("device_sequence", _STRING)),
    *(("topic", _STRING), ("rule", _STRING), ("base", _STRING), ("ext", _STRING)),
    *(("clock", _STRING), ("historical", _BOOLEAN), ("actuation", _STRING)),
    *(("seed", _BOOLEAN), ("outcome", _STRING), ("ended_time", _TIMESTAMP)),
    *(("confirmed_by", _STRING), ("failure", _STRING)),
)
"""The table `observations`; on disk also `day`, the partition."""

STREAM: Final = ("gateway", "sensor", "property", "feature", "unit")
"""What a rollup and a quality figure are about."""

ROLLUP: Final = _struct(
    ("grain", _STRING),
    *((name, _STRING) for name in STREAM),
    *(("start", _TIMESTAMP), ("count", _LONG)),
    *(("minimum", _DOUBLE), ("maximum", _DOUBLE), ("mean", _DOUBLE), ("m2", _DOUBLE)),
    *(("stddev", _DOUBLE), ("first", _DOUBLE), ("first_time", _TIMESTAMP)),
    *(("last", _DOUBLE), ("last_time", _TIMESTAMP), ("last_text", _STRING)),
    *(("time_weighted_mean", _DOUBLE), ("covered_s", _DOUBLE)),
    *(("increase", _DOUBLE), ("resets", _LONG)),
)
"""The table `rollup`; `grain` is minute, hour or day."""

FINDINGS: Final = _struct(
    ("check", _STRING),
    *((name, _STRING) for name in STREAM),
    *(("start", _TIMESTAMP), ("end", _TIMESTAMP), ("amount", _DOUBLE), ("detail", _STRING)),
)
"""The table `quality`: one row for each thing that is wrong."""


def on_disk(schema: StructType) -> StructType:
    """The schema of a table, with its partition column in front."""
    return StructType([StructField("day", DateType()), *schema.fields])
