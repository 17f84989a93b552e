"""Actuators by HTTP: what there is, a command, and what became of it.

Place on the way of the data: a command becomes a requested actuation, by the same UPDATE as
everybody's. docs/actuators.md shows each request.

Who has the capability `command`, or may publish to the topic of an actuator's commands, may command
it. Who may do that, or read the graph of actuations, sees it; for others it is not there.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Path
from pyoxigraph import NamedNode
from starlette.responses import Response

from gateway.actuation.actuating import Actuating
from gateway.actuation.actuator import Actuator
from gateway.actuation.ledger import ENDED, Entry
from gateway.errors import ForbiddenError, NotFoundError
from gateway.gates.admin.actuator_answers import (
    ActuationTold,
    ActuatorList,
    ActuatorTold,
    CommandBody,
    json_value,
    plain,
    written,
)
from gateway.gates.http.dependencies import AnyCaller, GateOf
from gateway.gates.http.json_body import JsonBody
from gateway.gates.http.json_router import JsonRouter
from gateway.rdf.namespaces import ACTUATIONS_GRAPH
from gateway.security.policy import Capability, Policy

PATH = "/actuators"
ACTUATIONS = "/actuations"
_REFUSED_S = 5.0
"""So long at most for the end of a command that cannot be; the engine fails it at once."""


class ActuatorsGate:
    """The endpoints below /actuators and /actuations."""

    def __init__(self, actuating: Actuating, iris: str) -> None:
        """`iris` is what the IRIs of actuations begin with."""
        self._actuating = actuating
        self._iris = iris

    async def list(self, policy: Policy) -> ActuatorList:
        """Actuators that a client may see."""
        last = await self._actuating.ledger.last()
        seen = [
            each
            for each in self._actuating.actuators.by_iri.values()
            if self._may_see(policy, each)
        ]
        return ActuatorList(actuators=[self._described(each, last) for each in seen])

    async def show(self, name: str, policy: Policy) -> ActuatorTold:
        """One of them. Raises NotFoundError."""
        actuator = self._find(name, policy)
        return self._described(actuator, await self._actuating.ledger.last())

    def commandable(self, name: str, policy: Policy) -> Actuator:
        """One that a client may command. Raises NotFoundError, ForbiddenError."""
        actuator = self._find(name, policy)
        if not self._may_command(policy, actuator):
            raise ForbiddenError(
                "this actuator may not be commanded",
                "ask the gateway's administrator for --may command, or for --publish "
                f"{self._actuating.topics.topic(actuator)}",
            )
        return actuator

    async def command(self, actuator: Actuator, body: CommandBody) -> ActuationTold:
        """Ask for an actuation, and wait where that is wished, or where it fails at once."""
        commands = self._actuating.commands
        wait_s = body.wait
        if not actuator.takes(body.value, datetime.now(UTC)):
            wait_s = wait_s or _REFUSED_S
        if wait_s:
            iri = await commands.request_and_wait(actuator, body.value, wait_s)
        else:
            iri = await commands.request(actuator, body.value)
        entry = await self._actuating.ledger.find(NamedNode(iri))
        if entry is None:
            return ActuationTold(id=self._name(iri), status="requested")
        return self._entry(entry)

    async def actuation(self, name: str, policy: Policy) -> ActuationTold:
        """What became of a command. Raises NotFoundError."""
        return self._entry(await self.entry(name, policy))

    async def entry(self, name: str, policy: Policy) -> Entry:
        """The same, as the store has it; by IRI or the name that it was answered with."""
        entry = None
        if (node := _node(name if ":" in name else self._iris + name)) is not None:
            entry = await self._actuating.ledger.find(node)
        if entry is not None:
            actuator = self._actuating.actuators.by_iri.get(entry.actuator)
            if self._may_see(policy, actuator):
                return entry
        raise NotFoundError(f"there is no actuation {name}", "old ones leave the store")

    def _find(self, name: str, policy: Policy) -> Actuator:
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

    def _described(self, actuator: Actuator, last: Mapping[str, Entry]) -> ActuatorTold:
        entry = last.get(actuator.iri)
        limits = {"minimum": actuator.minimum, "maximum": actuator.maximum, "step": actuator.step}
        return ActuatorTold(
            id=actuator.iri,
            name=actuator.name,
            property=actuator.observed_property,
            feature=actuator.feature,
            topic=self._actuating.topics.topic(actuator),
            command_topic=actuator.topic,
            **_said(
                sensor=actuator.sensor,
                format=actuator.family,
                values=[*actuator.values],
                true_value=actuator.words.true,
                false_value=actuator.words.false,
                **{name: None if each is None else plain(each) for name, each in limits.items()},
                unit=actuator.unit,
                time_limit=actuator.time_limit_s,
                last=None if entry is None else self._entry(entry),
            ),
        )

    def _entry(self, entry: Entry) -> ActuationTold:
        times = {
            "requested_at": entry.requested_at,
            "sent_at": entry.sent_at,
            "ended_at": entry.ended_at,
        }
        return ActuationTold(
            id=self._name(entry.iri),
            status=entry.status,
            **_said(
                actuator=entry.actuator,
                value=None if entry.value is None else json_value(entry.value),
                **{name: None if each is None else written(each) for name, each in times.items()},
                reason=entry.reason,
                observation=entry.observation,
            ),
        )

    def _name(self, iri: str) -> str:
        return iri.removeprefix(self._iris)


_Gate = Annotated[ActuatorsGate, Depends(GateOf(ActuatorsGate))]


async def _commandable(caller: AnyCaller, gate: _Gate, name: str) -> Actuator:
    return gate.commandable(name, caller.principal.policy)


_LOCATED = {"Location": {"required": True, "schema": {"type": "string"}}}
router = JsonRouter()
commands = JsonRouter(_commandable)


@router.get(PATH, "what can be set", "those that this client may see")
async def list_actuators(caller: AnyCaller, gate: _Gate) -> ActuatorList:
    """With the last actuation of each."""
    return await gate.list(caller.principal.policy)


@commands.post(
    f"{PATH}/{{name:path}}/command",
    "set it",
    "it has ended",
    404,
    answers={
        200: {"headers": _LOCATED},
        202: {"description": "it goes on", "model": ActuationTold, "headers": _LOCATED},
    },
)
async def command(
    gate: _Gate,
    response: Response,
    actuator: Annotated[Actuator, Depends(_commandable)],
    body: Annotated[CommandBody, Depends(JsonBody(CommandBody))],
) -> ActuationTold:
    """By IRI or name; `wait` has the answer come when it is confirmed."""
    told = await gate.command(actuator, body)
    response.status_code = 200 if told.status in ENDED else 202
    response.headers["Location"] = f"{ACTUATIONS}/{told.id}"
    return told


@router.get(f"{PATH}/{{name:path}}", "an actuator", "it", 404)
async def show_actuator(caller: AnyCaller, gate: _Gate, name: str) -> ActuatorTold:
    """By IRI or name."""
    return await gate.show(name, caller.principal.policy)


@router.get(f"{ACTUATIONS}/{{id:path}}", "what became of a command", "it", 404)
async def show_actuation(
    caller: AnyCaller, gate: _Gate, id_: Annotated[str, Path(alias="id")]
) -> ActuationTold:
    """By IRI, or the name that the command was answered with."""
    return await gate.actuation(id_, caller.principal.policy)


def _said(**members: object) -> dict[str, Any]:
    """What says something, of these members; 0 and false do."""
    return {name: each for name, each in members.items() if each not in (None, "", [])}


def _node(iri: str) -> NamedNode | None:
    try:
        return NamedNode(iri)
    except ValueError:
        return None
