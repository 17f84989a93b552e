"""Lines of segments become rows of the archive: typed results, times, identity.

Source: docs/segments.md ("Derived"); W3C SOSA 4.2.4. Everything is column functions.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType

from spark_batch.schema import (
    BOOLEAN,
    CORRUPT,
    KNOWN_MEMBERS,
    LINES,
    NUMERIC,
    OBSERVATIONS,
    WKT,
)

_LATEST_US = 253_402_300_799_999_999  # the end of year 9999, as far as dates are written plainly
_EXACT = 9_007_199_254_740_992.0  # 2^53: integers beyond it are no longer exact as doubles


def with_unknown_members(raw: DataFrame) -> DataFrame:
    """Read lines (column `value`) of a newer minor version: `LINES` and `ext`, a JSON object.

    Half as fast as Spark's own reader, which drops members that it was not told of.
    """
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
    parsed = F.from_json("value", LINES, options)
    members = F.from_json("value", "map<string,string>")
    known = F.array(*map(F.lit, KNOWN_MEMBERS))
    unknown = F.map_filter(members, lambda name, _: ~F.array_contains(known, name))
    ext = F.when(F.size(unknown) > 0, F.to_json(unknown))
    return raw.select(
        *(column for column in raw.columns if column != "value"),
        parsed.alias("line"),
        F.when(F.col("line.q").isNotNull(), ext).alias("ext"),
    ).select(*(column for column in raw.columns if column != "value"), "line.*", "ext")


def is_header() -> Column:
    """The first line of a segment."""
    return F.col("q").isNull() & F.col("schema").isNotNull() & F.col(CORRUPT).isNull()


def is_broken() -> Column:
    """A line that no sealed segment has; whole segments with one are examined."""
    observed = F.col("p").isNotNull() & F.col("f").isNotNull()
    whole = (
        F.col(CORRUPT).isNull()
        & F.col("s").isNotNull()
        & F.col("v").isNotNull()
        & F.col("d").isNotNull()
        & F.col("i").between(0, _LATEST_US)
        & (observed | F.coalesce(F.col("a") == 1, F.lit(False)))
    )
    return ~is_header() & ~F.coalesce(whole & F.col("q").isNotNull(), F.lit(False))


def observations(lines: DataFrame) -> DataFrame:
    """Rows of the archive and their `day`, of lines with `gateway`, `epoch`, `base` and `ext`."""
    timed = lines.withColumns(
        {
            "device_clock": _believed(),
            "result_us": F.when(_believed(), F.col("t")).otherwise(F.col("i")),
        }
    )
    columns = {
        "sequence": F.col("q"),
        "kind": _kind(),
        "sensor": F.col("s"),
        "property": F.col("p"),
        "feature": F.col("f"),
        "platform": F.col("h"),
        "place": F.col("w"),
        "result_time": F.timestamp_micros("result_us"),
        "delay_us": F.col("i") - F.col("result_us"),
        "suspect_time": F.when(~F.col("device_clock"), F.timestamp_micros(_writable("t"))),
        **_result(),
        "datatype": F.col("d"),
        "unit": F.col("u"),
        "message_lag": F.col("q") - F.col("m"),
        "device_sequence": F.col("n"),
        "topic": F.col("o"),
        "rule": F.col("r"),
        "clock": F.when(_believed(), F.col("z")),
        "historical": F.when(F.col("l") == 1, True),
        "actuation": F.col("x"),
        "seed": F.when(F.col("e") == 1, True),
        "outcome": F.col("y"),
        "ended_time": F.timestamp_micros(_writable("j")),
        "confirmed_by": F.col("b"),
        "failure": F.col("g"),
    }
    named = timed.withColumns(columns)
    day = F.to_date("result_time").alias("day")
    return named.select(*OBSERVATIONS.fieldNames(), day)


def _kind() -> Column:
    """How a command ended is told by its line again, with `y`."""
    of_command = F.when(F.col("y").isNull(), "actuation").otherwise("outcome")
    return F.when(F.col("a") == 1, of_command).otherwise("observation")


def _believed() -> Column:
    """The device told a time, the gateway believed it, and a calendar has it."""
    within = F.coalesce(F.col("t").between(0, _LATEST_US), F.lit(False))
    return within & F.coalesce(F.col("c") != 1, F.lit(True))


def _writable(name: str) -> Column:
    return F.when(F.col(name).between(-_LATEST_US, _LATEST_US), F.col(name))


def _result() -> dict[str, Column]:
    """The result in the column of its type, and its digits where they are not plain."""
    value, datatype = F.col("v"), F.col("d")
    is_number = datatype.isin(*NUMERIC)
    number = F.when(is_number, value.try_cast("double"))
    boolean = F.when(
        datatype == BOOLEAN,
        F.when(value.isin("true", "1"), True).when(value.isin("false", "0"), False),
    )
    plain = F.coalesce(plain_number(number), boolean.cast("string"))
    odd = (is_number | (datatype == BOOLEAN)) & ~F.coalesce(plain == value, F.lit(False))
    return {
        "number": number,
        "boolean": boolean.cast(BooleanType()),
        "text": F.when(~is_number & ~datatype.isin(BOOLEAN, WKT), value),
        "geometry": F.when(datatype == WKT, value),
        "lexical": F.when(odd, value),
    }


def plain_number(number: Column) -> Column:
    """How a number is written when its lexical form was not kept, the same in every language.

    Whole numbers without a point, others in as few digits as tell them apart; null for what has an
    exponent or is no number.
    """
    long = number.try_cast("long")
    whole = (long.cast("double") == number) & (F.abs(number) < _EXACT)
    digits = F.when(whole, long.cast("string")).otherwise(number.cast("string"))
    return F.when(~digits.rlike("[A-Za-z]"), digits)


def lexical_form() -> Column:
    """The result's lexical form, as the device sent it, of a row of the archive."""
    return F.coalesce(
        *map(F.col, ("lexical", "text", "geometry")),
        plain_number(F.col("number")),
        F.col("boolean").cast("string"),
    )
