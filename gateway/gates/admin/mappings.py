"""Mappings by HTTP: list, unknown topics, proposals, try, apply, undo.

Place on the way of the data: beside it; what is changed here goes to the scheduler as every other
UPDATE does. docs/mappings.md shows each request.
"""

import asyncio
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.admin.onboarding.changes import MappingChange
from gateway.admin.onboarding.edits import Edits
from gateway.admin.onboarding.onboarding import Found, Onboarding
from gateway.admin.onboarding.proposals import Status
from gateway.errors import BadRequestError, ForbiddenError
from gateway.gates.admin.mapping_answers import (
    JsonObject,
    change_answer,
    proposal_answer,
    trial_answer,
    unknown_answer,
)
from gateway.gates.admin.mapping_bodies import (
    ApplyBody,
    ConfirmBody,
    OneConfirmBody,
    RejectBody,
    TryBody,
    UndoBody,
    checked,
    read_json,
)
from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import endpoint
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.sparql.protocol_request import url_parameters
from gateway.rdf.namespaces import MAPPINGS_GRAPH
from gateway.security.guard import Guard, OpenGuard
from gateway.security.policy import Capability
from gateway.security.principal import Principal

PATH = "/mappings"


class MappingsGate:
    """The endpoints below /mappings.

    Who may read the graph of mappings may list them; all else needs the capability `mappings`.
    Payloads of unknown topics are for those alone who may receive the topic as well.
    """

    def __init__(
        self,
        onboarding: Onboarding,
        guard: Guard | None = None,
        limits: RequestLimits | None = None,
    ) -> None:
        self._onboarding = onboarding
        self._guard = guard or OpenGuard()
        self._limits = limits or RequestLimits()

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        one = f"{PATH}/proposals/{{id}}"
        return [
            *endpoint(PATH, {"GET": self._list}),
            *endpoint(f"{PATH}/unknown", {"GET": self._unknown}),
            *endpoint(f"{PATH}/try", {"POST": self._try}),
            *endpoint(f"{PATH}/apply", {"POST": self._apply}),
            *endpoint(f"{PATH}/history", {"GET": self._history}),
            *endpoint(f"{PATH}/undo", {"POST": self._undo}),
            *endpoint(f"{PATH}/proposals", {"GET": self._proposals}),
            *endpoint(f"{PATH}/proposals/confirm", {"POST": self._confirm}),
            *endpoint(f"{PATH}/proposals/reject", {"POST": self._reject}),
            *endpoint(one, {"GET": self._proposal}),
            *endpoint(f"{one}/confirm", {"POST": self._confirm_one}),
            *endpoint(f"{one}/reject", {"POST": self._reject_one}),
        ]

    async def _list(self, request: Request) -> Response:
        policy = Caller.of(request, self._guard).principal.policy
        is_mapper = Capability.MAPPINGS in policy.capabilities
        if not (is_mapper or policy.query_rights.may_read(MAPPINGS_GRAPH)):
            raise ForbiddenError(
                "the mappings may not be read",
                f"ask the gateway's administrator for --query {MAPPINGS_GRAPH.value}",
            )
        return JSONResponse({"mappings": await self._onboarding.mappings()})

    async def _unknown(self, request: Request) -> Response:
        policy = self._mapper(request).policy
        topics = [
            unknown_answer(each, shows_payloads=policy.may_receive(each.topic))
            for each in self._onboarding.unknown_topics()
        ]
        return JSONResponse({"topics": topics, "forgotten": self._onboarding.unknown.forgotten})

    async def _proposals(self, request: Request) -> Response:
        self._mapper(request)
        wanted = dict(url_parameters(request))
        status, device = _status(wanted.get("status")), wanted.get("device")
        found = [
            each
            for each in await self._onboarding.proposals()
            if status in {None, each.status} and device in {None, each.proposal.text("device")}
        ]
        answers = await asyncio.to_thread(_answers, found)
        return JSONResponse({"proposals": answers})

    async def _proposal(self, request: Request) -> Response:
        self._mapper(request)
        found = await self._onboarding.proposal(request.path_params["id"])
        return JSONResponse(proposal_answer(found))

    async def _confirm(self, request: Request) -> Response:
        identity = self._mapper(request).identity
        body = await read_json(request, ConfirmBody, self._limits)
        return _changed(await self._onboarding.confirm(body.ids, body.mapping, identity))

    async def _confirm_one(self, request: Request) -> Response:
        identity = self._mapper(request).identity
        body = await read_json(request, OneConfirmBody, self._limits)
        ids = [request.path_params["id"]]
        checked(ConfirmBody, {"ids": ids, "mapping": body.mapping})
        return _changed(await self._onboarding.confirm(ids, body.mapping, identity))

    async def _reject(self, request: Request) -> Response:
        self._mapper(request)
        body = await read_json(request, RejectBody, self._limits)
        await self._onboarding.reject(body.ids)
        return Response(status_code=204)

    async def _reject_one(self, request: Request) -> Response:
        self._mapper(request)
        await self._onboarding.reject([request.path_params["id"]])
        return Response(status_code=204)

    async def _try(self, request: Request) -> Response:
        self._mapper(request)
        body = await read_json(request, TryBody, self._limits)
        message = body.message.message(datetime.now(UTC))
        trial, violations = await self._onboarding.try_out(message, body.given)
        return JSONResponse(trial_answer(trial, violations))

    async def _apply(self, request: Request) -> Response:
        identity = self._mapper(request).identity
        body = await read_json(request, ApplyBody, self._limits)
        if not (body.add or body.replace or body.remove):
            raise BadRequestError("nothing to apply", "give add, replace or remove")
        edits = Edits(body.add, body.replace, body.remove)
        return _changed(await self._onboarding.apply(edits, identity))

    async def _undo(self, request: Request) -> Response:
        identity = self._mapper(request).identity
        body = await read_json(request, UndoBody, self._limits)
        return _changed(await self._onboarding.undo(body.id, identity, force=body.force))

    async def _history(self, request: Request) -> Response:
        self._mapper(request)
        changes = await self._onboarding.changes()
        return JSONResponse({"changes": [change_answer(each) for each in changes]})

    def _mapper(self, request: Request) -> Principal:
        """Who asks. Raises what the guard raises, and ForbiddenError."""
        principal = Caller.of(request, self._guard).principal
        principal.require(Capability.MAPPINGS)
        return principal


def _answers(found: list[Found]) -> list[JsonObject]:
    """In a thread: each mapping is compiled, to say what is wrong with it."""
    return [proposal_answer(each) for each in found]


def _changed(change: MappingChange | None) -> Response:
    if change is None:
        return JSONResponse({"changed": False})
    return JSONResponse({"changed": True, "change": change_answer(change)})


def _status(word: str | None) -> Status | None:
    try:
        return None if word is None else Status(word)
    except ValueError as error:
        known = ", ".join(each.value for each in Status)
        raise BadRequestError(f"status={word!r}", f"use one of {known}") from error
