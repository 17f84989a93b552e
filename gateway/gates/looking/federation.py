"""/federation: how the other gateways are, as this one sees them.

For who has the capability for operations; docs/federation.md shows the answer.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from pydantic import Field

from gateway.errors import NotFoundError
from gateway.federation.service import FederationService
from gateway.federation.watching.status import MemberStatus
from gateway.gates.http.dependencies import GateOf, Requires
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.security.policy import Capability
from gateway.windows.info import date_time

PATH = "/federation"


class MemberTold(Answer):
    """Another gateway; what is counted of it since the start is in docs/metrics.md."""

    name: str
    state: str = Field(description="up, away, or closed: not listened to")
    since: str = Field(description="xsd:dateTime")
    reason: str = Field(description="why it is closed")
    lag_s: float | None = Field(description="how old what is known of it is; null: nothing is")
    position: str | None
    entries: int
    replica_quads: int
    outbox_quads: int
    event_log_bytes: int = Field(description="events kept here that it has not acknowledged")
    sent_bytes: int
    received_bytes: int
    bytes_per_s: float
    events: int
    useless: int
    late: int
    duplicates: int
    resyncs: int
    gaps: int

    @classmethod
    def of(cls, status: MemberStatus) -> "MemberTold":
        """As JSON."""
        since = date_time(status.since)
        return cls.model_validate({**status.members(), "since": since})


class FederationTold(Answer):
    """This gateway, where it stands, and the others."""

    gateway: str
    position: str
    members: list[MemberTold]


@dataclass(frozen=True, slots=True)
class FederationGate:
    """The endpoint; `federation` is None where there is none."""

    federation: FederationService | None

    def told(self) -> FederationTold:
        """How it is now. Raises NotFoundError."""
        federation = self.federation
        if federation is None:
            raise NotFoundError("this gateway is in no federation", "set up [federation]")
        gateway, _, position = federation.place.partition("=")
        members = list(map(MemberTold.of, federation.status))
        return FederationTold(gateway=gateway, position=position, members=members)


router = JsonRouter(Requires(Capability.OPERATIONS), errors=(404,))

_Gate = Annotated[FederationGate, Depends(GateOf(FederationGate))]


@router.get(PATH, "the other gateways", "how each is")
async def federation(gate: _Gate) -> FederationTold:
    """As it was within the last half second."""
    return gate.told()
