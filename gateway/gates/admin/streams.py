"""Streams by HTTP: what is observed, at a glance, and the history of each; docs/streams.md.

For who may QUERY the default graph, where observations are. The journal is read in the threads of
QUERYs, within the same limits.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated

from fastapi import Depends, Path, Query
from pydantic import Field, PlainValidator, WithJsonSchema

from gateway.admin.streams import BEGIN, Cursor, HistoryAsked, Page, Point, Streams, Told
from gateway.errors import BadRequestError, QueryTimeoutError
from gateway.gates.http.caller import Caller
from gateway.gates.http.dependencies import AnyCaller, GateOf, require_observations
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.gates.http.query_parameters import Limit, Parameters, WholeNumber
from gateway.gates.http.rendering import BoundedBody
from gateway.gates.sparql.query_pool import QueryPool
from gateway.journal.history import Window
from gateway.journal.record import Position

PATH = "/streams"

_MOST_STREAMS = 500
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS = 253_402_300_799_999  # the end of the year 9999
_LONGEST_S = 31_622_400  # a leap year
_CURSOR = "^([0-9]{1,12}-[0-9]{1,18})?(@[0-9]{1,12}(-[0-9]{1,19})?)?$"
"""A position of the journal, a version of the archive, the time (µs) before which a page is."""

_ID = "^[0-9a-f]{24}$"


def _number(least: int, most: int) -> tuple[PlainValidator, WithJsonSchema]:
    schema = {"type": "integer", "minimum": least, "maximum": most}
    return PlainValidator(WholeNumber(least, most)), WithJsonSchema(schema)


def _position(text: str | None) -> str | None:
    if text is not None and not re.fullmatch(_CURSOR, text, re.ASCII):
        raise BadRequestError(f"after={text[:80]!r}", "give `next` of the page before")
    return text


_Instant = Annotated[int | None, *_number(0, _LAST_MS)]


class Listing(Parameters):
    """Which streams: of a sensor, of a property; those behind `after`, so many."""

    sensor: Annotated[str | None, Field(description="IRI")] = None
    property: Annotated[str | None, Field(description="IRI")] = None
    after: Annotated[str, Field(description="id: those behind it alone")] = ""
    limit: Annotated[int, *_number(1, _MOST_STREAMS), Field(description="most of them")] = 100


class Asked(Parameters):
    """Which part of a history, and in which grain."""

    begin: Annotated[_Instant, Field(alias="from", description="ms since 1970")] = None
    end: Annotated[_Instant, Field(alias="to", description="ms since 1970, without it")] = None
    every: Annotated[
        int, *_number(0, _LONGEST_S), Field(description="seconds a bucket; 0: each observation")
    ] = 0
    limit: Annotated[Limit, Field(description="most points")] = 500
    after: Annotated[
        str | None,
        PlainValidator(_position),
        WithJsonSchema({"type": "string", "pattern": _CURSOR}),
        Field(description="`next` of the page before"),
    ] = None

    def asked(self) -> HistoryAsked:
        """As the journal is asked. Raises BadRequestError."""
        if self.begin is not None and self.end is not None and self.begin >= self.end:
            raise BadRequestError("`from` is not before `to`", "give times in ms since 1970")
        window = Window(_instant(self.begin), _instant(self.end))
        cursor = BEGIN if self.after is None else _cursor(self.after)
        return HistoryAsked(window, self.every * 1000, self.limit, cursor)


def _cursor(text: str) -> Cursor:
    """The reverse of `_written`."""
    before, _, archived = text.partition("@")
    version, _, until = archived.partition("-")
    return Cursor(
        Position.parse(before) if before else None,
        int(version) if version else None,
        int(until) if until else None,
    )


def _written(cursor: Cursor) -> str:
    """As `next` and `after` have it."""
    before = "" if cursor.before is None else str(cursor.before)
    version = "" if cursor.version is None else f"@{cursor.version}"
    return f"{before}{version}{'' if cursor.until is None else f'-{cursor.until}'}"


def _instant(time_ms: int | None) -> datetime | None:
    return None if time_ms is None else _EPOCH + timedelta(milliseconds=time_ms)


class StreamNamed(Answer):
    """A stream: sensor, property and feature are IRIs."""

    id: str
    sensor: str
    property: str
    feature: str


class StreamTold(StreamNamed):
    """A stream with a glance at it: [ms since 1970, value], each the last of `resolution_s`."""

    points: list[tuple[int, float]]
    resolution_s: float
    unit: str | None


class StreamsTold(Answer):
    """By id; `next` is what `after` is on the next page, and is there where there is one."""

    streams: list[StreamTold]
    next: str = ""


class PointTold(Answer):
    """An observation; with `every` its numbers' mean as `value`, and `min`, `max`, `count`."""

    t: int
    value: float | int | bool | str | None
    unit: str | None = None
    flags: list[str] = Field(default_factory=list)
    min: float | None = None
    max: float | None = None
    count: int = 1


class HistoryTold(Answer):
    """The newest page first, each in the order of its times; `next` where there are more.

    `damaged` names segments of the journal that could not be read whole; `missing` says why the
    archive is not in it, or how far its rollups are behind.
    """

    stream: StreamNamed
    points: list[PointTold]
    next: str = ""
    missing: str = ""
    damaged: list[str] = Field(default_factory=list)


class StreamsGate:
    """Streams and their history, read beside the event loop."""

    def __init__(self, streams: Streams, pool: QueryPool) -> None:
        self._streams = streams
        self._pool = pool

    async def list(self, listing: Listing, caller: Caller) -> StreamsTold:
        """A page of them. Raises what the pool raises."""
        of = (listing.sensor, listing.property)
        told, has_more = await self._pool.run(
            lambda _: self._streams.list(*of, listing.after, listing.limit), caller
        )
        streams = [
            StreamTold(
                points=list(each.line.points),
                resolution_s=each.line.resolution_s,
                unit=each.line.unit,
                **_named(each),
            )
            for each in told
        ]
        if has_more:
            return StreamsTold(streams=streams, next=told[-1].id)
        return StreamsTold(streams=streams)

    async def history(self, id_: str, asked: HistoryAsked, caller: Caller) -> HistoryTold:
        """A page. Raises NotFoundError, StorageError, and what the pool raises."""

        def read(body: BoundedBody) -> tuple[Told, Page]:
            found = self._streams.find(id_)
            return found, self._streams.history(found.stream, asked, partial(_look, body))

        found, page = await self._pool.run(read, caller)
        members: dict[str, object] = {
            "stream": StreamNamed(**_named(found)),
            "points": [_told(each, is_bucket=asked.every_ms > 0) for each in page.points],
        }
        if page.next is not None:
            members["next"] = _written(page.next)
        if page.missing:
            members["missing"] = page.missing
        if page.damaged:
            members["damaged"] = list(page.damaged)
        return HistoryTold.model_validate(members)


router = JsonRouter(require_observations)

_Gate = Annotated[StreamsGate, Depends(GateOf(StreamsGate))]


@router.get(PATH, "what is observed, at a glance", "streams by id")
async def list_streams(
    caller: AnyCaller, gate: _Gate, listing: Annotated[Listing, Query()]
) -> StreamsTold:
    """Each with at most 64 points; the history has them all."""
    return await gate.list(listing, caller)


@router.get(f"{PATH}/{{id}}/history", "the history of a stream", "the newest page first", 404)
async def stream_history(
    caller: AnyCaller,
    gate: _Gate,
    id_: Annotated[str, Path(alias="id", json_schema_extra={"pattern": _ID})],
    asked: Annotated[Asked, Query()],
) -> HistoryTold:
    """As far as the journal goes back, and the archive behind it."""
    return await gate.history(id_, asked.asked(), caller)


def _look(body: BoundedBody) -> None:
    if not body.look():
        raise QueryTimeoutError(0.0)  # told by the pool, which knows the limit


def _named(told: Told) -> dict[str, str]:
    sensor, observed_property, feature = told.stream
    return {"id": told.id, "sensor": sensor, "property": observed_property, "feature": feature}


def _told(point: Point, *, is_bucket: bool) -> dict[str, object]:
    """The members of a `PointTold`; a page is validated as a whole."""
    members: dict[str, object] = {"t": point.time_ms, "value": point.value}
    if point.unit is not None:
        members["unit"] = point.unit
    if point.flags:
        members["flags"] = sorted(point.flags)
    if is_bucket:
        members["count"] = point.count
        if point.least is not None:
            members |= {"min": point.least, "max": point.most}
    return members
