"""`ZenohCarrier`: members reach each other by Zenoh, in this process, each by the keys of its own.

    sosa/1/<from>/<to>/{needs,data,ack,members} -> messages; sosa/1/up/<id> -> who is there

Place: in the place of the loopback carrier, where the extra `federation` is installed. Its advanced
publishers number what they send, keep the last of it, notice a loss and ask for it again, so a link
that was down for a while loses nothing that still is in the cache; beyond it, the numbers above
(gateway/federation/wire.py) ask for a new stream. A loss shows by the next message; members beat,
and ask again for what is not answered, so there is one soon, and Zenoh itself says nothing where
nothing happens. Nothing waits for a peer that reads nothing: what it does not take is dropped, and
comes again. Source: Eclipse Zenoh 1.10, its documentation of advanced publication and liveliness.
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from gateway.errors import ConfigurationError
from gateway.federation import connections
from gateway.federation.carrier import Channel, Received
from gateway.federation.wire import MOST_BYTES

log = logging.getLogger(__name__)

_CACHE = 512
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_PLAIN = frozenset({Channel.ACK, Channel.MEMBERS})
"""What is said again by itself: none of it is kept for who missed it."""

_MOST_BYTES = MOST_BYTES + 65_536
"""What Zenoh puts together of a message before anybody sees it, without which it is a gigabyte."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files: the federation's CA, this member's certificate and its key."""

    ca: str
    certificate: str
    key: str


@dataclass(frozen=True, slots=True)
class Endpoints:
    """`HOST:PORT` to listen at and to dial; without `tls` on the loopback interface alone.

    `access` is the section of Zenoh's access control by the certificates' names, None for none.
    `is_routed`: a hub, which listens, passes on what others say; each of them has a link to it
    alone, as a client: of routers that open again at once some stay unheard in Zenoh 1.10.
    """

    listen: tuple[str, ...]
    connect: tuple[str, ...] = ()
    tls: TlsFiles | None = None
    access: Mapping[str, object] | None = None
    is_routed: bool = False

    @property
    def is_behind_hub(self) -> bool:
        """Whether there is a hub, which is another one."""
        return self.is_routed and not self.listen

    def settings(self) -> Mapping[str, object]:
        """As Zenoh has them. Raises ConfigurationError for an open link off loopback."""
        protocol = "tcp" if self.tls is None else "tls"
        for each in (*self.listen, *self.connect):
            if self.tls is None and each.rpartition(":")[0] not in _LOOPBACK:
                raise ConfigurationError(
                    f"the federation would talk to {each} without TLS",
                    "give it certificates, or stay on 127.0.0.1",
                )
        found: dict[str, object] = {
            "mode": self._mode,
            "listen/endpoints": [f"{protocol}/{each}" for each in self.listen],
            "connect/endpoints": [f"{protocol}/{each}" for each in self.connect],
            "connect/timeout_ms": 0 if self.is_behind_hub else -1,  # a client would wait for it
            "connect/exit_on_failure": False,
            "scouting/multicast/enabled": False,
            "scouting/gossip/enabled": False,
            "timestamping/enabled": True,
            "transport/link/rx/max_message_size": _MOST_BYTES,
            "transport/shared_memory/enabled": False,  # members are on machines of their own
        }
        if self.access is not None:
            found["access_control"] = self.access
        if self.tls is not None:
            found |= {
                "transport/link/tls/root_ca_certificate": self.tls.ca,
                "transport/link/tls/listen_certificate": self.tls.certificate,
                "transport/link/tls/listen_private_key": self.tls.key,
                "transport/link/tls/connect_certificate": self.tls.certificate,
                "transport/link/tls/connect_private_key": self.tls.key,
                "transport/link/tls/enable_mtls": True,
                "transport/link/tls/verify_name_on_connect": False,
            }
        return found

    @property
    def _mode(self) -> str:
        if self.is_behind_hub:
            return "client"
        return "router" if self.is_routed else "peer"


class ZenohCarrier:
    """One member's end; `others` are those it hears, by name. Callbacks come in Zenoh's threads."""

    def __init__(self, member: str, others: Iterable[str], endpoints: Endpoints) -> None:
        """Raises ConfigurationError where the extra is missing, or for endpoints that cannot be."""
        self._member = member
        self._others = tuple(others)
        self._zenoh, self._ext = require_zenoh()
        self._settings = endpoints.settings()
        self._hub = " or ".join(endpoints.connect) if endpoints.is_behind_hub else ""
        self._has_names = endpoints.tls is not None
        self._foreign: set[str] = set()
        self._session: Any = None
        self._publishers: dict[tuple[str, Channel], Any] = {}
        self._declared: list[Any] = []

    def listen(
        self, received: Callable[[Received], None], presence: Callable[[str, bool], None]
    ) -> None:
        """Be up; raises ConfigurationError where the session cannot be opened.

        One behind a hub cannot be while that is away, and is tried again.
        """
        config = self._zenoh.Config()
        for key, value in self._settings.items():
            config.insert_json5(key, json.dumps(value))
        try:
            self._session = session = self._zenoh.open(config)
        except self._zenoh.ZError as error:
            raise self._not_open(error) from error
        if self._has_names:
            self._declared.append(self._watch_links(session))
        for other in self._others:
            for channel in Channel:
                self._publishers[other, channel] = self._publisher(other, channel)
                self._declared.append(self._subscriber(other, channel, received))
        self._declared.append(self._watch(session, presence))
        self._declared.append(session.liveliness().declare_token(_up(self._member)))

    def _not_open(self, error: Exception) -> ConfigurationError:
        if self._hub:
            what = f"the federation's hub does not answer at {self._hub}"
            return ConfigurationError(what, "see that it runs; it is dialled again by itself")
        what = f"the federation cannot listen: {error}"
        return ConfigurationError(what, "correct [federation], or free its port")

    def send(self, to: str, channel: Channel, payload: bytes) -> None:
        """Hand a message to Zenoh, which waits for nobody."""
        publisher = self._publishers.get((to, channel))
        if publisher is not None:
            publisher.put(payload)

    def renew(self, member: str) -> None:
        """As Carrier: shut the links of its certificate; without certificates, all.

        Behind a hub there is one alone, the hub's, which dials nobody.
        """
        session = self._session
        if session is not None:
            for link in session.info.links():
                if link.auth_identifier == member or not self._has_names:
                    connections.shut(link.src, link.dst)

    def close(self) -> None:
        """Close the session: without it the process may never end."""
        session, self._session = self._session, None
        self._publishers.clear()
        if session is not None:
            for each in self._declared:
                each.undeclare()
            self._declared.clear()
            session.close()

    def _publisher(self, other: str, channel: Channel) -> Any:
        key, ext = _key(self._member, other, channel), self._ext
        drop = self._zenoh.CongestionControl.DROP
        if channel in _PLAIN:
            return self._session.declare_publisher(key, congestion_control=drop)
        return ext.declare_advanced_publisher(
            self._session,
            key,
            congestion_control=drop,
            cache=ext.CacheConfig(max_samples=_CACHE),
            sample_miss_detection=ext.MissDetectionConfig(heartbeat=None, sporadic_heartbeat=None),
            publisher_detection=True,
        )

    def _subscriber(
        self, other: str, channel: Channel, received: Callable[[Received], None]
    ) -> Any:
        key, ext = _key(other, self._member, channel), self._ext

        def take(sample: Any) -> None:
            _guarded(lambda: received(Received(other, channel, bytes(sample.payload))))

        if channel in _PLAIN:
            return self._session.declare_subscriber(key, take)
        return ext.declare_advanced_subscriber(
            self._session,
            key,
            take,
            recovery=ext.RecoveryConfig(periodic_queries=None, heartbeat=True),
        )

    def _watch(self, session: Any, presence: Callable[[str, bool], None]) -> Any:
        def take(sample: Any) -> None:
            name = str(sample.key_expr).rpartition("/")[2]
            is_up = sample.kind == self._zenoh.SampleKind.PUT
            if name in self._others:
                _guarded(lambda: presence(name, is_up))

        return session.liveliness().declare_subscriber(_up("*"), take, history=True)

    def _watch_links(self, session: Any) -> Any:
        """Close each link of who has a certificate, and is no member (any more)."""
        known = {self._member, *self._others}

        def take(event: Any) -> None:
            name = event.link.auth_identifier
            is_new = event.kind == self._zenoh.SampleKind.PUT
            if is_new and name is not None and name not in known:
                _guarded(lambda: self._turn_away(name, event.link))

        return session.info.declare_link_events_listener(take, history=True)

    def _turn_away(self, name: str, link: Any) -> None:
        """Close a link, and say so once: who dials again does so every 4 s at the end."""
        if connections.shut(link.src, link.dst) and name not in self._foreign:
            self._foreign.add(name)
            log.warning("federation_foreign_link_closed", extra={"gateway": name})


def _key(sender: str, to: str, channel: Channel) -> str:
    return f"sosa/1/{sender}/{to}/{channel.value}"


def _up(member: str) -> str:
    return f"sosa/1/up/{member}"


def _guarded(call: Callable[[], None]) -> None:
    """What fails in one message costs that message: Zenoh's thread must go on."""
    try:
        call()
    except Exception:
        log.exception("federation_message_failed")


def require_zenoh() -> tuple[ModuleType, ModuleType]:
    """Zenoh, and its extensions. Raises ConfigurationError where they are not installed."""
    try:
        return import_module("zenoh"), import_module("zenoh.ext")
    except ImportError as error:
        raise ConfigurationError(
            "the federation needs Zenoh, which is not installed",
            "install sosa-gateway[federation]",
        ) from error
