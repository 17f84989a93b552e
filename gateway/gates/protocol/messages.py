"""Requests of the SPARQL 1.1 SE protocol: JSON text into values, the same on every transport.

Place on the way of the data: the first step of a subscription. Sources: SPARQL 1.1 Subscribe
Language and Secure Event Protocol (SEPA's drafts); `spuid`, `sequence`, `infer`, `windows`,
`output`, `mode`, `after` and `gateways` in a subscribe are ours, and other brokers ignore them
(docs/subscribing.md, docs/reasoning.md, docs/events.md).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyoxigraph import NamedNode

from gateway.engine.spu import UNION
from gateway.engine.windowed.over import OVER_NOTHING, OverWindows, written_out
from gateway.errors import BadRequestError
from gateway.rdf.dataset import Dataset


class BadMessageError(BadRequestError):
    """A message that is no request; carries its alias where that could be read."""

    def __init__(self, description: str, hint: str = "", alias: str | None = None) -> None:
        super().__init__(description, hint)
        self.alias = alias


@dataclass(frozen=True, slots=True)
class Subscribe:
    """A request to subscribe to SPARQL text over a dataset, and windows beside it.

    `infer` None leaves the view open.
    """

    sparql: str
    alias: str | None = None
    dataset: Dataset | None = None
    authorization: str | None = None
    infer: bool | None = None
    over: OverWindows = OVER_NOTHING

    def infers(self, by_default: bool) -> bool:
        """Whether it is about what follows too; by default neither events nor gateways are."""
        if self.infer is None:
            return by_default and self.over.mode == UNION and self.over.gateways is None
        return self.infer


@dataclass(frozen=True, slots=True)
class Resume:
    """A request to go on with a subscription after the message numbered `sequence`."""

    spuid: str
    sequence: int
    alias: str | None = None
    authorization: str | None = None


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """A request to end a subscription."""

    spuid: str
    alias: str | None = None
    authorization: str | None = None


Message = Subscribe | Resume | Unsubscribe


def decode_message(text: str, *, bare_token: bool = False) -> Message:
    """A client's message. Members we do not know are ignored. Raises BadMessageError.

    With `bare_token`, an `authorization` beside the request, without "Bearer", is taken too.

    >>> decode_message('{"unsubscribe":{"spuid":"sepa://subscription/1","timeout":5000}}')
    Unsubscribe(spuid='sepa://subscription/1', alias=None, authorization=None)
    """
    message = _json_object(text)
    requests = [kind for kind in ("subscribe", "unsubscribe") if kind in message]
    if len(requests) != 1:
        raise BadMessageError("the message has no request", 'send one "subscribe" or "unsubscribe"')
    kind = requests[0]
    body = message[kind]
    if not isinstance(body, dict):
        raise BadMessageError(f'"{kind}" is not an object', f'send {{"{kind}":{{...}}}}')
    token = message.get("authorization")
    if bare_token and "authorization" not in body and isinstance(token, str):
        body = {**body, "authorization": f"Bearer {token.removeprefix('Bearer ')}"}
    alias = None
    try:
        alias = _alias(body)
        return _decode_subscribe(body, alias) if kind == "subscribe" else _decode_unsubscribe(body)
    except BadRequestError as error:
        raise BadMessageError(error.description, error.hint, alias) from error


def _json_object(text: str) -> Mapping[str, object]:
    try:
        message: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadMessageError(
            f"the message is not JSON: {error}", "send one JSON object"
        ) from error
    if not isinstance(message, dict):
        raise BadMessageError("the message is not a JSON object", "send one JSON object")
    return message


def _alias(body: Mapping[str, object]) -> str | None:
    alias = body.get("alias")
    return _unicode(alias) if isinstance(alias, str) else None


def _decode_subscribe(body: Mapping[str, object], alias: str | None) -> Subscribe | Resume:
    authorization = _optional_text(body, "authorization")
    if body.get("spuid") is not None:
        return Resume(_text(body, "spuid"), _sequence(body), alias, authorization)
    return Subscribe(
        _text(body, "sparql"),
        alias,
        Dataset.chosen(
            graph_names(_strings(body, "default-graph-uri")),
            graph_names(_strings(body, "named-graph-uri")),
        ),
        authorization,
        _infer(body),
        OverWindows.of(body, written_out),
    )


def _infer(body: Mapping[str, object]) -> bool | None:
    value = body.get("infer")
    if value is not None and not isinstance(value, bool):
        raise BadRequestError('"infer" is neither true nor false', "send one of them, or neither")
    return value


def _decode_unsubscribe(body: Mapping[str, object]) -> Unsubscribe:
    return Unsubscribe(_text(body, "spuid"), _alias(body), _optional_text(body, "authorization"))


def _text(body: Mapping[str, object], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise BadRequestError(f'"{name}" is missing or not a string')
    return _unicode(value)


def _unicode(text: str) -> str:
    """JSON can write half a character (a lone surrogate), which nobody can send on."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadRequestError("a string has half a character", "send Unicode") from error
    return text


def _optional_text(body: Mapping[str, object], name: str) -> str | None:
    return None if body.get(name) is None else _text(body, name)


def _sequence(body: Mapping[str, object]) -> int:
    value = body.get("sequence")
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadRequestError(
            '"sequence" is missing or not a number from 0 on',
            'send the sequence of the last notification that came, or "sparql" without "spuid"',
        )
    return value


def _strings(body: Mapping[str, object], name: str) -> list[str]:
    """A list of strings; clients in use also send `_` for `-`, one bare string, null for none."""
    value = body.get(name, body.get(name.replace("-", "_")))
    values = value if isinstance(value, list) else [] if value is None else [value]
    texts = [item for item in values if isinstance(item, str)]
    if len(texts) != len(values):
        raise BadRequestError(f'"{name}" is not a list of strings')
    return texts


def graph_names(iris: Iterable[str]) -> tuple[NamedNode, ...]:
    """Graph names of a protocol's dataset. Raises BadRequestError for a text that is no IRI."""
    try:
        return tuple(NamedNode(iri) for iri in iris)
    except ValueError as error:
        raise BadRequestError(f"a graph is not an absolute IRI: {error}") from error
