"""Actuators by HTTP: what there is, a command, and what became of it.

Place on the way of the data: a command becomes a requested actuation, by the same UPDATE as
everybody's. docs/actuators.md shows each request.

Who has the capability `command`, or may publish to the topic of an actuator's commands, may command
it. Who may do that, or read the graph of actuations, sees it; for others it is not there.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from pyoxigraph import Literal, NamedNode
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.actuation.actuating import Actuating
from gateway.actuation.actuator import Actuator
from gateway.actuation.commands import LONGEST_WAIT_S
from gateway.actuation.ledger import ENDED, Entry
from gateway.actuation.values import is_boolean, is_number, number_literal, number_of
from gateway.errors import BadRequestError, ForbiddenError, NotFoundError, UnsupportedMediaTypeError
from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import endpoint
from gateway.gates.http.request_body import RequestLimits, media_type, read_body, utf_8
from gateway.gates.protocol.wire import JsonObject
from gateway.rdf.namespaces import ACTUATIONS_GRAPH, XSD
from gateway.security.guard import Guard, OpenGuard
from gateway.security.policy import Capability, Policy

PATH = "/actuators"
ACTUATIONS = "/actuations"

_JSON = "application/json"
_BOOLEAN = NamedNode(XSD + "boolean")
_MOST_DIGITS = 64
_EXAMPLE = 'send {"value": true}, a number or a text'


class ActuatorsGate:
    """The endpoints below /actuators and /actuations."""

    def __init__(
        self,
        actuating: Actuating,
        iris: str,
        limits: RequestLimits,
        guard: Guard | None = None,
    ) -> None:
        """`iris` is what the IRIs of actuations begin with."""
        self._actuating = actuating
        self._iris = iris
        self._limits = limits
        self._guard = guard or OpenGuard()

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        return [
            *endpoint(PATH, {"GET": self._list}),
            *endpoint(f"{PATH}/{{name:path}}/command", {"POST": self._command}),
            *endpoint(f"{PATH}/{{name:path}}", {"GET": self._get}),
            *endpoint(f"{ACTUATIONS}/{{id:path}}", {"GET": self._actuation}),
        ]

    async def _list(self, request: Request) -> Response:
        policy = Caller.of(request, self._guard).principal.policy
        last = await self._actuating.ledger.last()
        seen = [
            each
            for each in self._actuating.actuators.by_iri.values()
            if self._may_see(policy, each)
        ]
        return JSONResponse({"actuators": [self._described(each, last) for each in seen]})

    async def _get(self, request: Request) -> Response:
        policy = Caller.of(request, self._guard).principal.policy
        actuator = self._find(request, policy)
        last = await self._actuating.ledger.last()
        return JSONResponse(self._described(actuator, last))

    async def _command(self, request: Request) -> Response:
        policy = Caller.of(request, self._guard).principal.policy
        actuator = self._find(request, policy)
        if not self._may_command(policy, actuator):
            raise ForbiddenError(
                "this actuator may not be commanded",
                "ask the gateway's administrator for --may command, or for --publish "
                f"{self._actuating.topics.topic(actuator)}",
            )
        value, wait_s = await self._body(request)
        commands = self._actuating.commands
        if wait_s:
            iri = await commands.request_and_wait(actuator, value, wait_s)
        else:
            iri = await commands.request(actuator, value)
        entry = await self._actuating.ledger.find(NamedNode(iri))
        told: JsonObject = {"id": self._name(iri), "status": "requested"}
        told = self._entry(entry) if entry is not None else told
        is_ended = told["status"] in ENDED
        headers = {"Location": f"{ACTUATIONS}/{self._name(iri)}"}
        return JSONResponse(told, status_code=200 if is_ended else 202, headers=headers)

    async def _actuation(self, request: Request) -> Response:
        policy = Caller.of(request, self._guard).principal.policy
        name: str = request.path_params["id"]
        entry = None
        if (node := _node(name if ":" in name else self._iris + name)) is not None:
            entry = await self._actuating.ledger.find(node)
        if entry is not None:
            actuator = self._actuating.actuators.by_iri.get(entry.actuator)
            if self._may_see(policy, actuator):
                return JSONResponse(self._entry(entry))
        raise NotFoundError(f"there is no actuation {name}", "old ones leave the store")

    def _find(self, request: Request, policy: Policy) -> Actuator:
        name: str = request.path_params["name"]
        actuator = self._actuating.actuators.find(name)
        if actuator is None or not self._may_see(policy, actuator):
            raise NotFoundError(f"there is no actuator {name}", f"GET {PATH} lists those there are")
        return actuator

    def _may_command(self, policy: Policy, actuator: Actuator) -> bool:
        topic = self._actuating.topics.topic(actuator)
        return Capability.COMMAND in policy.capabilities or policy.may_publish(topic)

    def _may_see(self, policy: Policy, actuator: Actuator | None) -> bool:
        if policy.query_rights.may_read(ACTUATIONS_GRAPH):
            return True
        return actuator is not None and self._may_command(policy, actuator)

    async def _body(self, request: Request) -> tuple[Literal, float]:
        """The value, and how long to wait for its confirmation."""
        found = media_type(request.headers.get("content-type", ""))
        if found != _JSON:
            raise UnsupportedMediaTypeError(
                f"cannot read a body of type {found or 'unknown'}", f"use Content-Type {_JSON}"
            )
        members = _members(utf_8(await read_body(request, self._limits)))
        wait_s = members.get("wait", 0)
        is_number = isinstance(wait_s, int | Decimal) and not isinstance(wait_s, bool)
        if not is_number or not 0 <= wait_s <= LONGEST_WAIT_S:
            raise BadRequestError(
                "wait is no number of seconds", f"send one of 0 to {LONGEST_WAIT_S:g}"
            )
        if unknown := members.keys() - {"value", "wait"}:
            raise BadRequestError(f"unknown members: {', '.join(sorted(unknown))}", _EXAMPLE)
        return _literal(members.get("value")), float(wait_s)

    def _described(self, actuator: Actuator, last: Mapping[str, Entry]) -> JsonObject:
        entry = last.get(actuator.iri)
        told: JsonObject = {
            "id": actuator.iri,
            "name": actuator.name,
            "property": actuator.observed_property,
            "feature": actuator.feature,
            "topic": self._actuating.topics.topic(actuator),
            "commandTopic": actuator.topic,
        }
        others: Mapping[str, Any] = {
            "sensor": actuator.sensor,
            "format": actuator.family,
            "values": list(actuator.values),
            "minimum": _limit(actuator.minimum),
            "maximum": _limit(actuator.maximum),
            "step": _limit(actuator.step),
            "unit": actuator.unit,
            "timeLimit": actuator.time_limit_s,
            "last": None if entry is None else self._entry(entry),
        }
        return told | {name: each for name, each in others.items() if each not in (None, "", [])}

    def _entry(self, entry: Entry) -> JsonObject:
        told: JsonObject = {"id": self._name(entry.iri), "status": entry.status}
        others: Mapping[str, Any] = {
            "actuator": entry.actuator,
            "value": None if entry.value is None else _json(entry.value),
            "requestedAt": _time(entry.requested_at),
            "sentAt": _time(entry.sent_at),
            "endedAt": _time(entry.ended_at),
            "reason": entry.reason,
            "observation": entry.observation,
        }
        return told | {name: each for name, each in others.items() if each not in (None, "")}

    def _name(self, iri: str) -> str:
        return iri.removeprefix(self._iris)


def _members(text: str) -> Mapping[str, Any]:
    try:
        members = json.loads(text, parse_float=Decimal, parse_constant=_refuse)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise BadRequestError(f"the body is no JSON: {error}", _EXAMPLE) from error
    if not isinstance(members, dict):
        raise BadRequestError("the body is no object", _EXAMPLE)
    return members


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _literal(value: object) -> Literal:
    if isinstance(value, bool):
        return Literal("true" if value else "false", datatype=_BOOLEAN)
    if isinstance(value, int | Decimal):
        number = Decimal(value)
        if abs(number.adjusted()) < _MOST_DIGITS:
            return number_literal(number)
    if isinstance(value, str):
        return Literal(value)
    raise BadRequestError("value is no truth value, number or text", _EXAMPLE)


def _json(value: Literal) -> bool | float | str:
    if is_boolean(value):
        return value.value in {"true", "1"}
    number = number_of(value) if is_number(value) else None
    return value.value if number is None else _plain(number)


def _plain(number: Decimal) -> int | float:
    return int(number) if number == number.to_integral_value() else float(number)


def _limit(number: Decimal | None) -> int | float | None:
    return None if number is None else _plain(number)


def _time(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat().replace("+00:00", "Z")


def _node(iri: str) -> NamedNode | None:
    try:
        return NamedNode(iri)
    except ValueError:
        return None
