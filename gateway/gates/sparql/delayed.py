"""Delayed UPDATEs by HTTP: `at` and `delay` of an UPDATE, /update/delayed to see and cancel them.

Place on the way of the data: an UPDATE that waits goes to the scheduler as every other one; what
waits is asked of it. Source: docs/engine.md, "Delayed UPDATEs".

A client sees and cancels what it sent itself. Who may read the graph of delayed UPDATEs sees all of
them, who may write it cancels any: by SPARQL they can do so anyway.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Protocol

from fastapi import Depends, Path
from pydantic import Field

from gateway.engine import DelayedUpdate
from gateway.engine.request import DueTime
from gateway.errors import BadRequestError, NotFoundError
from gateway.gates.http.caller import Caller
from gateway.gates.http.dependencies import AnyCaller, GateOf
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.gates.protocol.wire import JsonObject
from gateway.gates.sparql.protocol_request import Operation
from gateway.rdf.dataset import Dataset
from gateway.rdf.namespaces import DELAYED_GRAPH

PATH = "/update/delayed"

_PREFIX = f"{DELAYED_GRAPH.value}/"
_SECONDS = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")
_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
    r"(?:Z|[+-][0-9]{2}:[0-9]{2})"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Waiting(Protocol):
    """The UPDATEs that wait; raises a GatewayError."""

    async def delayed(self) -> Sequence[DelayedUpdate]:
        """All of them, in order."""
        ...

    async def cancel(self, id_: str, /) -> None:
        """Take one back."""
        ...


def due_time(operation: Operation) -> DueTime | None:
    """When an UPDATE is to be executed: its `at` or `delay`, None for now.

    `delay` is in seconds; `at` an xsd:dateTime with time zone, or Unix time in seconds. Raises
    BadRequestError.
    """
    at, delay = operation.parameter("at"), operation.parameter("delay")
    if at is not None and delay is not None:
        raise BadRequestError("both 'at' and 'delay'", "send one of them")
    if delay is not None:
        return _seconds("delay", delay)
    if at is None:
        return None
    return _date_time(at) if "T" in at else _since_epoch(_seconds("at", at))


def since_epoch(name: str, text: str) -> int:
    """µs since the epoch of an xsd:dateTime with time zone, or of Unix time in seconds.

    Raises BadRequestError, which calls the parameter by its name.
    """
    if "T" in text:
        return (_date_time(text, name) - _EPOCH) // timedelta(microseconds=1)
    return _since_epoch(_seconds(name, text))


def _seconds(name: str, text: str) -> timedelta:
    if not _SECONDS.fullmatch(text):
        raise BadRequestError(f"{name}={text!r}", f"send seconds, as in {name}=2.5")
    whole, _, part = text.partition(".")
    try:
        return timedelta(seconds=int(whole), microseconds=int(part.ljust(6, "0")))
    except OverflowError as error:
        raise BadRequestError(f"{name}={text!r} is too long", "use a shorter time") from error


def _since_epoch(time: timedelta) -> int:
    """In µs: a datetime ends with the year 9999."""
    return time // timedelta(microseconds=1)


def _date_time(text: str, name: str = "at") -> datetime:
    try:
        if _DATE_TIME.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    raise BadRequestError(
        f"{name}={text!r}", "send an xsd:dateTime with zone: 2026-07-01T12:00:00Z"
    )


def location(id_: str) -> str:
    """Where a delayed UPDATE is seen and cancelled."""
    return f"{PATH}/{_name(id_)}"


def accepted(id_: str, due: int) -> JsonObject:
    """What is said of an UPDATE that waits from now on; `due` is µs since the epoch."""
    return {"id": _name(id_), "due": _written(due)}


class Delayed(Answer):
    """An UPDATE that waits; its text and dataset where it was asked for."""

    id: str
    due: Annotated[str, Field(description="xsd:dateTime")]
    sparql: str = ""
    using_graph_uri: list[str] = Field(default_factory=list, serialization_alias="using-graph-uri")
    using_named_graph_uri: list[str] = Field(
        default_factory=list, serialization_alias="using-named-graph-uri"
    )


class DelayedList(Answer):
    """In their order."""

    delayed: list[Delayed]


class DelayedGate:
    """The endpoints /update/delayed and /update/delayed/{id}."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting

    async def visible(self, caller: Caller) -> list[DelayedUpdate]:
        """What a client may see."""
        sees_all = caller.principal.policy.query_rights.may_read(DELAYED_GRAPH)
        waiting = await self._waiting.delayed()
        return [each for each in waiting if sees_all or _owns(caller, each)]

    async def find(self, caller: Caller, name: str) -> DelayedUpdate:
        """One of these. Raises NotFoundError."""
        id_ = name if ":" in name else f"{_PREFIX}{name}"
        for each in await self.visible(caller):
            if each.id == id_:
                return each
        raise _unknown(id_)

    async def cancel(self, caller: Caller, name: str) -> None:
        """Take one back. Raises NotFoundError."""
        found = await self.find(caller, name)
        may_write = caller.principal.policy.update_rights.may_write(DELAYED_GRAPH)
        if not _owns(caller, found) and not may_write:
            raise _unknown(found.id)
        await self._waiting.cancel(found.id)


router = JsonRouter()

_Gate = Annotated[DelayedGate, Depends(GateOf(DelayedGate))]
_Id = Annotated[str, Path(alias="id")]


@router.get(PATH, "UPDATEs that wait", "those that this client may see")
async def list_delayed(caller: AnyCaller, gate: _Gate) -> DelayedList:
    """What it sent itself, or all where it may read their graph."""
    return DelayedList(delayed=[_described(each) for each in await gate.visible(caller)])


@router.get(f"{PATH}/{{id:path}}", "an UPDATE that waits", "it", 404)
async def show_delayed(caller: AnyCaller, gate: _Gate, id_: _Id) -> Delayed:
    """With its text and dataset."""
    return _described(await gate.find(caller, id_))


@router.silent("DELETE", f"{PATH}/{{id:path}}", "cancel it", "it will not be executed", 404)
async def cancel_delayed(caller: AnyCaller, gate: _Gate, id_: _Id) -> None:
    """What it sent itself, or any where it may write their graph."""
    await gate.cancel(caller, id_)


def _owns(caller: Caller, update: DelayedUpdate) -> bool:
    return update.request.owner == caller.principal.identity


def _unknown(id_: str) -> NotFoundError:
    return NotFoundError(f"there is no delayed update {_name(id_)}", "it may have run already")


def _described(update: DelayedUpdate) -> Delayed:
    request = update.request
    default, named = (request.using or Dataset()).iris()
    return Delayed(
        id=_name(update.id),
        due=_written(update.due),
        sparql=";\n".join(text for text, _ in request.updates),
        using_graph_uri=default,
        using_named_graph_uri=named,
    )


def _name(id_: str) -> str:
    return id_.removeprefix(_PREFIX)


def _written(due: int) -> str:
    try:
        return f"{_EPOCH + timedelta(microseconds=due):%Y-%m-%dT%H:%M:%S.%fZ}"
    except OverflowError:  # after the year 9999: written by hand into the graph
        return str(due / 1e6)
