"""The settings of the federation: [federation] and [federation.peers.NAME] of gateway.toml.

Place: a section of `gateway.config.settings`, of which it knows nothing.
"""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pyoxigraph import NamedNode

from gateway.config.values import Count, Port, Seconds, Section, Token, is_iri
from gateway.federation.limits import DROP_S, REPLICA_QUADS, OutgoingLimits, ServiceLimits
from gateway.federation.membership import places
from gateway.rdf.namespaces import OWN_GRAPHS
from gateway.rdf.rights import Graphs
from gateway.rdf.terms import DEFAULT_GRAPH

_OUTGOING, _SERVICE = OutgoingLimits(), ServiceLimits()

Place = Annotated[str, Field(pattern=r"^[^\s/:]+:[0-9]{1,5}$")]
"""`HOST:PORT`."""

Via = Annotated[str, Field(pattern=r"^[^\s/:]+(:[0-9]{1,5})?$")]
"""`HOST` or `HOST:PORT`."""


def _graph(text: str) -> str:
    if text == "default":
        return text
    if not is_iri(text):
        raise ValueError("use the IRI of a graph without <>, or 'default'")
    if NamedNode(text) in OWN_GRAPHS:
        raise ValueError("the gateway's own graphs are read by no other gateway; leave it out")
    return text


Read = tuple[Annotated[str, AfterValidator(_graph)], ...]
"""Graphs, by IRI or `default`."""


class PeerSettings(Section):
    """Another gateway, by its id: which of our graphs it may read.

    `at` is where it listens on this machine, for gateways that have no certificates.
    """

    at: Place | Literal[""] = ""
    read: Read | None = None


class FederationSettings(Section):
    """By `via`, a gateway that others are reached by too, this one is a member with certificates.

    It listens at `listen` for members, "" for port 7447 of all interfaces, and at `join_port` for
    newcomers while it has the CA and invites them; a `hub` passes on what others say. Without `via`
    gateways of one machine hear each other: at `listen`, "" for nowhere. Members may read the
    graphs of `read`. Sequence 0 waits `wait_s` for members that are up; who is away for
    `drop_s` leaves those answers that are to be without it. Of one member at most
    `replica_quads` are kept, and `outbox_quads` of changes wait for one that reads slowly.
    """

    via: Via | Literal[""] = ""
    listen: Place | Literal[""] = ""
    join_port: Port = places.JOIN_PORT
    hub: bool = False
    read: Read = ("default",)
    wait_s: Seconds = _SERVICE.wait_s
    drop_s: Seconds = DROP_S
    replica_quads: Count = REPLICA_QUADS
    outbox_quads: Count = _OUTGOING.quads
    peers: dict[Token, PeerSettings] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        placed = [name for name, peer in self.peers.items() if peer.at]
        if self.via:
            if placed:
                raise ValueError(
                    f"peers.{placed[0]}: at: where members are is known by `via`; leave it out"
                )
            return self
        if self.peers and not self.listen:
            raise ValueError(
                'there are peers, and nowhere to listen; say listen = "127.0.0.1:7447"'
            )
        for name, peer in self.peers.items():
            if not peer.at:
                raise ValueError(f"peers.{name}: say where it listens, or [federation] via")
        return self

    @property
    def is_on(self) -> bool:
        """Whether there is one."""
        return bool(self.via or self.listen)

    def may_read(self) -> Graphs:
        """The graphs that members may read, unless it is said of one alone."""
        return _graphs(self.read)

    def peer_may_read(self) -> dict[str, Graphs]:
        """What single peers may read, of whom it is said."""
        peers = self.peers.items()
        return {name: _graphs(peer.read) for name, peer in peers if peer.read is not None}

    def outgoing(self) -> OutgoingLimits:
        """The bounds of what is on its way to one member."""
        return OutgoingLimits(quads=self.outbox_quads)

    def service(self) -> ServiceLimits:
        """The limits of who serves subscribers."""
        return ServiceLimits(wait_s=self.wait_s)


def _graphs(words: Read) -> Graphs:
    return frozenset(DEFAULT_GRAPH if word == "default" else NamedNode(word) for word in words)
