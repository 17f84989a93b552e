"""Messages of the SPARQL 1.1 SE protocol, from the client's end; nothing here waits or sends.

Source: SPARQL 1.1 Subscribe Language and Secure Event Protocol (SEPA's drafts). `spuid` and
`sequence` in a subscribe resume, in gateways that know how (docs/subscribing.md); others ignore
them and answer from the start, as they ignore `infer` (docs/reasoning.md), windows
(docs/windows.md) and modes (docs/events.md).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.client.errors import ProtocolError
from gateway.client.notification import Event, Notification
from gateway.rdf.json_results import TRUE, decode_solutions
from jsap.template import Graphs


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error object; with a spuid that subscription has ended."""

    code: str
    status: int
    description: str
    spuid: str | None = None


@dataclass(frozen=True, slots=True)
class Resumed:
    """The subscription goes on behind this sequence."""

    spuid: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Unsubscribed:
    """The subscription is over, as it was wished."""

    spuid: str


Message = Notification | Refusal | Resumed | Unsubscribed


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is subscribed: SPARQL text over a dataset; with `infer` to what follows too.

    `over` are the members `windows`, `output`, `mode` and `after` that the request has.
    """

    sparql: str
    alias: str
    graphs: Graphs
    infer: bool | None = None
    over: Mapping[str, object] = field(default_factory=dict)

    @property
    def output(self) -> str:
        """What is told of rows: of events what came."""
        if self.over.get("mode") == "event":
            return "added"
        return str(self.over.get("output", "changes"))


def encode_subscribe(
    wanted: Wanted, authorization: str | None, after: Notification | None = None
) -> str:
    """The request; with `after` it asks to go on behind that notification."""
    body: dict[str, object] = {"sparql": wanted.sparql, "alias": wanted.alias}
    if wanted.graphs.default_graph_uri:
        body["default-graph-uri"] = list(wanted.graphs.default_graph_uri)
    if wanted.graphs.named_graph_uri:
        body["named-graph-uri"] = list(wanted.graphs.named_graph_uri)
    if wanted.infer is not None:
        body["infer"] = wanted.infer
    body |= wanted.over
    if authorization is not None:
        body["authorization"] = authorization
    if after is not None:
        body |= {"spuid": after.spuid, "sequence": after.sequence}
    return json.dumps({"subscribe": body})


def encode_unsubscribe(spuid: str, authorization: str | None) -> str:
    """The request to end a subscription."""
    body = {"spuid": spuid}
    if authorization is not None:
        body["authorization"] = authorization
    return json.dumps({"unsubscribe": body})


def decode_message(url: str, text: str | bytes) -> Message | None:
    """A message of the broker; None for one that we do not know. Raises ProtocolError."""
    try:
        message = json.loads(text)
        if not isinstance(message, Mapping):
            raise TypeError("no JSON object")
        if "notification" in message:
            return _notification(message["notification"])
        if "error" in message:
            return _refusal(message)
        if "resumed" in message:
            return Resumed(str(message["resumed"]["spuid"]), int(message["resumed"]["sequence"]))
        if "unsubscribed" in message:
            return Unsubscribed(str(message["unsubscribed"]["spuid"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ProtocolError(url, f"no message of the protocol: {error!r:.200}") from error
    return None


def _refusal(message: Mapping[str, Any]) -> Refusal:
    spuid = message.get("spuid")
    return Refusal(
        str(message["error"]),
        int(message.get("status_code", 500)),
        str(message.get("error_description", "")),
        spuid if isinstance(spuid, str) else None,
    )


def _notification(members: Mapping[str, Any]) -> Notification:
    added = members.get("addedResults") or {}
    removed = members.get("removedResults") or {}
    now, before = decode_solutions(added), decode_solutions(removed)
    if "boolean" in added and now == before == TRUE:
        now = before = ()
    time = members.get("time")
    return Notification(
        str(members["spuid"]),
        int(members["sequence"]),
        now,
        before,
        time if isinstance(time, int) else None,
        int(members.get("merged", 1)),
        windows=dict(members.get("windows") or {}),
        events=tuple(map(_event, members.get("events") or ())),
    )


def _event(members: Mapping[str, Any]) -> Event:
    return Event(
        str(members["graph"]),
        str(members["gateway"]),
        str(members["position"]),
        int(members["time"]),
        int(members["rows"]),
    )
