"""An observation as archive and journal both have it, whoever's gateway made it.

Place: between what is read and the triples that are made of it. Source: docs/segments.md.
"""

from typing import NamedTuple

from adapters.values.observation import TimeSource
from gateway.journal.record import Origin, Record, micros


class Row(NamedTuple):
    """One observation; times are µs since 1970-01-01 UTC, `base` begins the gateway's IRIs.

    `clock` is whose time `time` is; `is_suspect` where the device told one that was not believed.
    """

    base: str
    gateway: str
    epoch: int
    sequence: int
    message: int
    sensor: str
    observed_property: str
    feature: str
    lexical: str
    datatype: str
    unit: str | None
    time: int
    ingested_at: int
    clock: str
    is_suspect: bool


def row_of(record: Record, origin: Origin) -> Row:
    """The row of a line in the journal."""
    seen, position = record.observation, record.position
    told, came = seen.phenomenon_time, micros(record.ingested_at)
    is_believed = told is not None and not record.clock_suspect
    source = seen.circumstances.time_source if is_believed else TimeSource.GATEWAY
    return Row(
        origin.base_iri,
        origin.gateway,
        position.epoch,
        position.sequence,
        record.message,
        *seen.stream,
        seen.lexical,
        seen.datatype,
        seen.unit,
        micros(told) if told is not None and is_believed else came,
        came,
        source.value,
        record.clock_suspect and told is not None,
    )
