"""The settings of the federation: [federation] and [federation.peers.NAME] of gateway.toml.

Place: a section of `gateway.config.settings`, of which it knows nothing.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gateway.config.values import Count, Seconds, Section, Token
from gateway.federation.limits import REPLICA_QUADS, OutgoingLimits, ServiceLimits
from gateway.rdf.rights import Graphs
from gateway.rdf.terms import DEFAULT_GRAPH

_OUTGOING, _SERVICE = OutgoingLimits(), ServiceLimits()

Place = Annotated[str, Field(pattern=r"^[^\s/:]+:[0-9]{1,5}$")]
"""`HOST:PORT`."""


class PeerSettings(Section):
    """Another gateway, by its id: where it listens, and which of our graphs it may read."""

    at: Place
    read: tuple[Literal["default"], ...] = ("default",)

    def graphs(self) -> Graphs:
        """The graphs, as rights have them."""
        return frozenset({DEFAULT_GRAPH} if self.read else ())


class FederationSettings(Section):
    """Where this gateway listens for others, "" for nowhere, and who they are.

    Sequence 0 waits `wait_s` for members that are up. Of one member at most `replica_quads` are
    kept, and `outbox_quads` of changes wait for one that reads slowly. For now all stays on the
    loopback interface: what ties a member to its certificate is still to come.
    """

    listen: Place | Literal[""] = ""
    wait_s: Seconds = _SERVICE.wait_s
    replica_quads: Count = REPLICA_QUADS
    outbox_quads: Count = _OUTGOING.quads
    peers: dict[Token, PeerSettings] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.peers and not self.listen:
            raise ValueError(
                'there are peers, and nowhere to listen; say listen = "127.0.0.1:7447"'
            )
        return self

    def outgoing(self) -> OutgoingLimits:
        """The bounds of what is on its way to one member."""
        return OutgoingLimits(quads=self.outbox_quads)

    def service(self) -> ServiceLimits:
        """The limits of who serves subscribers."""
        return ServiceLimits(wait_s=self.wait_s)
