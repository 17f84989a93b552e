"""Mappings by HTTP: list, unknown topics, proposals, try, apply, undo.

What is changed here goes to the scheduler as every other UPDATE does. docs/mappings.md shows each
request.

Who may read the graph of mappings may list them; all else needs the capability `mappings`. Payloads
of unknown topics are for those alone who may receive the topic as well.
"""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Path, Query
from starlette.requests import Request

from gateway.admin.onboarding.edits import Edits
from gateway.admin.onboarding.onboarding import Found, Onboarding
from gateway.admin.onboarding.proposals import Status
from gateway.errors import BadRequestError, ForbiddenError
from gateway.gates.admin.mapping_answers import (
    Changed,
    Changes,
    Confirmation,
    Mappings,
    Migrated,
    Proposals,
    ProposalTold,
    TrialTold,
    UnknownTopicList,
    change_answer,
    changed_answer,
    confirmation_answer,
    migration_answer,
    proposal_answer,
    trial_answer,
    unknown_answer,
)
from gateway.gates.admin.mapping_bodies import (
    ApplyBody,
    ConfirmBody,
    MigrateBody,
    OneConfirmBody,
    RejectBody,
    TryBody,
    UndoBody,
)
from gateway.gates.http.dependencies import AnyCaller, GateOf, Requires
from gateway.gates.http.json_body import JsonBody, checked
from gateway.gates.http.json_router import JsonRouter
from gateway.gates.sparql.protocol_request import url_parameters
from gateway.rdf.namespaces import MAPPINGS_GRAPH
from gateway.security.policy import Capability

PATH = "/mappings"

_PROPOSAL = f"{PATH}/proposals/{{id}}"
_Onboarding = Annotated[Onboarding, Depends(GateOf(Onboarding))]
_Id = Annotated[str, Path(alias="id")]

reader = JsonRouter()
mapper = JsonRouter(Requires(Capability.MAPPINGS))


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which proposals; None for any."""

    status: Status | None
    device: str | None

    def has(self, found: Found) -> bool:
        """Whether it is one of them."""
        is_of_device = self.device in {None, found.proposal.text("device")}
        return self.status in {None, found.status} and is_of_device


async def _wanted(
    request: Request,
    status: Annotated[str | None, Query()] = None,
    device: Annotated[str | None, Query()] = None,
) -> Wanted:
    """Raise BadRequestError, also for what is not percent-encoded UTF-8."""
    url_parameters(request)
    try:
        return Wanted(None if status is None else Status(status), device)
    except ValueError as error:
        known = ", ".join(each.value for each in Status)
        raise BadRequestError(f"status={status!r}", f"use one of {known}") from error


@reader.get(PATH, "all mappings", "all")
async def list_mappings(caller: AnyCaller, onboarding: _Onboarding) -> Mappings:
    """As members of a JSAP profile, by id."""
    policy = caller.principal.policy
    is_mapper = Capability.MAPPINGS in policy.capabilities
    if not (is_mapper or policy.query_rights.may_read(MAPPINGS_GRAPH)):
        raise ForbiddenError(
            "the mappings may not be read",
            f"ask the gateway's administrator for --query {MAPPINGS_GRAPH.value}",
        )
    return Mappings(mappings=list(await onboarding.mappings()))


@mapper.get(f"{PATH}/unknown", "topics that no mapping reads", "all")
async def list_unknown(caller: AnyCaller, onboarding: _Onboarding) -> UnknownTopicList:
    """With what could read them, the last heard first."""
    policy = caller.principal.policy
    topics = [
        unknown_answer(each, shows_payloads=policy.may_receive(each.topic))
        for each in onboarding.unknown_topics()
    ]
    return UnknownTopicList(topics=topics, forgotten=onboarding.unknown.forgotten)


@mapper.post(f"{PATH}/try", "try a message; nothing is changed", "what it would be", 404, 409)
async def try_message(
    onboarding: _Onboarding, body: Annotated[TryBody, Depends(JsonBody(TryBody))]
) -> TrialTold:
    """By the mappings of now, or by those given alone."""
    message = body.message.message(datetime.now(UTC))
    trial, violations = await onboarding.try_out(message, body.given)
    return trial_answer(trial, violations)


@mapper.post(f"{PATH}/apply", "add, replace, remove mappings", "done, or nothing to do", 404, 409)
async def apply_edits(
    caller: AnyCaller,
    onboarding: _Onboarding,
    body: Annotated[ApplyBody, Depends(JsonBody(ApplyBody))],
) -> Changed:
    """As one change."""
    if not (body.add or body.replace or body.remove):
        raise BadRequestError("nothing to apply", "give add, replace or remove")
    edits = Edits(body.add, body.replace, body.remove)
    return changed_answer(await onboarding.apply(edits, caller.principal.identity))


@mapper.get(f"{PATH}/history", "changes of mappings", "all")
async def list_changes(onboarding: _Onboarding) -> Changes:
    """The last first."""
    return Changes(changes=[change_answer(each) for each in await onboarding.changes()])


@mapper.post(f"{PATH}/undo", "take a change back", "done, or nothing to do", 404, 409)
async def undo_change(
    caller: AnyCaller,
    onboarding: _Onboarding,
    body: Annotated[UndoBody, Depends(JsonBody(UndoBody))],
) -> Changed:
    """Unless somebody else has changed the same since, or by force."""
    identity = caller.principal.identity
    return changed_answer(await onboarding.undo(body.id, identity, force=body.force))


@mapper.get(f"{PATH}/proposals", "proposals", "all")
async def list_proposals(
    onboarding: _Onboarding, wanted: Annotated[Wanted, Depends(_wanted)]
) -> Proposals:
    """By family, device and label."""
    found = [each for each in await onboarding.proposals() if wanted.has(each)]
    return await asyncio.to_thread(_answers, found)


@mapper.post(
    f"{PATH}/proposals/confirm", "make proposals mappings", "done, or nothing to do", 404, 409
)
async def confirm_several(
    caller: AnyCaller,
    onboarding: _Onboarding,
    body: Annotated[ConfirmBody, Depends(JsonBody(ConfirmBody))],
) -> Confirmation:
    """With members of their own, where some are given."""
    identity = caller.principal.identity
    if body.all:
        return confirmation_answer(*await onboarding.confirm_all(identity))
    return confirmation_answer(*await onboarding.confirm(body.ids, body.mapping, identity))


@mapper.post(f"{PATH}/migrate", "take up what devices mean now", "done, or nothing to do", 404, 409)
async def migrate(
    caller: AnyCaller,
    onboarding: _Onboarding,
    body: Annotated[MigrateBody, Depends(JsonBody(MigrateBody))],
) -> Migrated:
    """Or tell only which mappings mean something else now, and what names their properties."""
    identity = caller.principal.identity
    return migration_answer(*await onboarding.migrate(identity, is_trial=body.dry_run))


@mapper.silent(
    "POST",
    f"{PATH}/proposals/reject",
    "never accept proposals",
    "it is not proposed again",
    *(404, 409),
)
async def reject_several(
    onboarding: _Onboarding, body: Annotated[RejectBody, Depends(JsonBody(RejectBody))]
) -> None:
    """Until somebody confirms them."""
    await onboarding.reject(body.ids)


@mapper.silent(
    "POST",
    f"{PATH}/proposals/reopen",
    "take rejections back",
    "they are proposed again",
    *(404, 409),
)
async def reopen_several(
    onboarding: _Onboarding, body: Annotated[RejectBody, Depends(JsonBody(RejectBody))]
) -> None:
    """Leave what was not rejected as it is."""
    await onboarding.reopen(body.ids)


@mapper.get(_PROPOSAL, "a proposal", "it", 404, 409)
async def show_proposal(onboarding: _Onboarding, id_: _Id) -> ProposalTold:
    """Also a guess about an unknown topic."""
    return proposal_answer(await onboarding.proposal(id_))


@mapper.post(f"{_PROPOSAL}/confirm", "make it a mapping", "done, or nothing to do", 404, 409)
async def confirm_one(
    caller: AnyCaller,
    onboarding: _Onboarding,
    id_: _Id,
    body: Annotated[OneConfirmBody, Depends(JsonBody(OneConfirmBody))],
) -> Confirmation:
    """With members of its own, where some are given."""
    checked(ConfirmBody, {"ids": [id_], "mapping": body.mapping})
    identity = caller.principal.identity
    return confirmation_answer(*await onboarding.confirm([id_], body.mapping, identity))


@mapper.silent(
    "POST", f"{_PROPOSAL}/reject", "never accept it", "it is not proposed again", 404, 409
)
async def reject_one(onboarding: _Onboarding, id_: _Id) -> None:
    """Until somebody confirms it."""
    await onboarding.reject([id_])


def _answers(found: list[Found]) -> Proposals:
    """In a thread: each mapping is compiled, to say what is wrong with it."""
    return Proposals(proposals=[proposal_answer(each) for each in found])
