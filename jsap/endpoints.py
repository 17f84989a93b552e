"""Where and how the entries of a profile are sent: URLs, methods, formats, channels.

Place: between a profile and whoever sends its updates, queries and subscriptions. Source: JSAP,
`sparql11protocol` and `sparql11seprotocol`; what an entry says wins over what the profile says,
member by member, and a host within a protocol over the one beside it, in entries too. A profile
that says nothing of a protocol means SEPA's ports and paths on its host: 8000, 9000, `/query`,
`/update`, `/subscribe`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from jsap.errors import JsapError
from jsap.file_format import (
    Channel,
    EntryPart,
    Method,
    OAuthPart,
    Operation,
    Scheme,
    Sparql11Protocol,
    Sparql11SeProtocol,
)

_DEFAULT_HTTP_PORT = 8000
_DEFAULT_CHANNELS = MappingProxyType({"ws": Channel(port=9000, path="/subscribe")})
_SOCKETS = frozenset({"ws", "wss"})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an update or query goes; `format` is JSAP's: JSON, XML, CSV, HTML."""

    url: str
    method: Method
    format: str


@dataclass(frozen=True, slots=True)
class SubscribeEndpoint:
    """Where a subscription is opened.

    `protocol` is a name of `availableProtocols`. `url` is that of a WebSocket, and of an MQTT
    broker for `mqtt`; `members` are all that the profile says of the channel.
    """

    protocol: str
    url: str
    reconnect: bool
    members: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class OAuth:
    """Where clients register and get tokens, and the credentials that the profile has."""

    enabled: bool = False
    register_url: str | None = None
    token_url: str | None = None
    identity: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, part: OAuthPart) -> "OAuth":
        """From either style. Credentials of the old one are encrypted, and left out."""
        new, login = part.registration, part.authentication
        if new is None and login is None:
            return cls(part.enable, part.register_url, part.token_request)
        return cls(
            part.enable,
            new.endpoint if new else part.register_url,
            login.endpoint if login else part.token_request,
            (new.client_id or new.username) if new else None,
            login.client_id if login else None,
            login.client_secret if login else None,
        )


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The protocols of a profile and of its entries.

    >>> Endpoints("gateway.local").update("SEND").url
    'http://gateway.local:8000/update'
    """

    host: str | None = None
    sparql11protocol: Sparql11Protocol | None = None
    sparql11seprotocol: Sparql11SeProtocol | None = None
    updates: Mapping[str, EntryPart] = field(default_factory=dict)
    queries: Mapping[str, EntryPart] = field(default_factory=dict)

    def update(self, update_id: str) -> Endpoint:
        """Where this update is sent. Raises JsapError where the profile names no host."""
        own = _protocol(self.updates.get(update_id))
        return self._endpoint(own, own.update, self._global.update, "/update")

    def query(self, query_id: str) -> Endpoint:
        """Where this query is sent. Raises JsapError where the profile names no host."""
        own = _protocol(self.queries.get(query_id))
        return self._endpoint(own, own.query, self._global.query, "/query")

    def subscribe(self, query_id: str) -> SubscribeEndpoint:
        """Where this query is subscribed. Raises JsapError for a protocol that is not there."""
        entry = self.queries.get(query_id)
        own = (entry and entry.sparql11seprotocol) or Sparql11SeProtocol()
        own_host = own.host or (entry.host if entry else None)
        of_all = self.sparql11seprotocol or Sparql11SeProtocol()
        channels = {**of_all.channels, **own.channels} or _DEFAULT_CHANNELS
        name = own.protocol or of_all.protocol or next(iter(channels))
        if name not in channels:
            place = "sparql11seprotocol.availableProtocols"
            raise JsapError(place, f"no {name}, which `protocol` names", "add it")
        channel = channels[name]
        host = own_host or channel.host or of_all.host or self.host
        reconnect = own.reconnect if own.reconnect is not None else of_all.reconnect
        url = _url(channel.scheme or name, _needed(host), channel.port, channel.path or "")
        members = channel.model_dump(exclude_none=True)
        return SubscribeEndpoint(name, url, reconnect is not False, MappingProxyType(members))

    @property
    def _global(self) -> Sparql11Protocol:
        return self.sparql11protocol or Sparql11Protocol(port=_DEFAULT_HTTP_PORT)

    def _endpoint(
        self, own: Sparql11Protocol, operation: Operation, of_all: Operation, path: str
    ) -> Endpoint:
        every = self._global
        scheme = own.protocol or every.protocol or Scheme.HTTP
        url = _url(
            scheme.value,
            _needed(own.host or every.host or self.host),
            own.port or every.port,
            operation.path or of_all.path or path,
        )
        method = operation.method or of_all.method or Method.POST
        return Endpoint(url, method, (operation.format or of_all.format or "JSON").upper())


def channel_warnings(part: Sparql11SeProtocol | None, path: str) -> list[str]:
    """What will not do when somebody subscribes."""
    if part is None or part.protocol is None or not part.channels:
        return []
    if part.protocol in part.channels:
        return []
    return [f"{path}.protocol: {part.protocol} is none of availableProtocols"]


def is_socket(endpoint: SubscribeEndpoint) -> bool:
    """Whether it is reached by WebSocket."""
    return endpoint.url.partition(":")[0] in _SOCKETS


def _protocol(entry: EntryPart | None) -> Sparql11Protocol:
    own = (entry and entry.sparql11protocol) or Sparql11Protocol()
    if entry is None or own.host is not None:
        return own
    return own.model_copy(update={"host": entry.host})


def _needed(host: str | None) -> str:
    if not host:
        raise JsapError("host", "missing", "say where the broker is")
    return host


def _url(scheme: str, host: str, port: int | None, path: str) -> str:
    """A URL; an IPv6 address gets its brackets."""
    place = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{scheme}://{place}{'' if port is None else f':{port}'}/{path.lstrip('/')}"
