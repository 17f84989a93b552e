"""What crosses the wire as JSON: results, SPARQL 1.1 SE messages, the error object.

Place on the way of the data: its last step, values into text, and the first of a subscription,
text into a request. Nothing here waits or sends. Sources: SPARQL 1.1 Query Results JSON Format
(W3C, 2013), sections 3 and 4; triple terms and `its:dir` as in the SPARQL 1.2 draft; SPARQL 1.1
Subscribe Language and Secure Event Protocol (SEPA's drafts).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from gateway.engine import Notification
from gateway.errors import BadRequestError, GatewayError
from gateway.rdf.namespaces import XSD
from gateway.rdf.solutions import ResultsDelta, Row
from gateway.rdf.terms import Term

JsonObject = dict[str, object]

_quote = json.JSONEncoder(ensure_ascii=False).encode
_XSD_STRING = f"{XSD}string"


def encode_term(term: Term) -> str:
    """The RDF term as a JSON object (section 3.2.2).

    >>> encode_term(NamedNode("urn:a"))
    '{"type":"uri","value":"urn:a"}'
    """
    if isinstance(term, NamedNode):
        return f'{{"type":"uri","value":{_quote(term.value)}}}'
    if isinstance(term, Literal):
        return f'{{"type":"literal","value":{_quote(term.value)}{_literal_members(term)}}}'
    if isinstance(term, BlankNode):
        return f'{{"type":"bnode","value":{_quote(term.value)}}}'
    return f'{{"type":"triple","value":{_triple_value(term)}}}'


def _literal_members(literal: Literal) -> str:
    if literal.language is None:
        datatype = literal.datatype.value
        return "" if datatype == _XSD_STRING else f',"datatype":{_quote(datatype)}'
    direction = "" if literal.direction is None else f',"its:dir":"{literal.direction.value}"'
    return f',"xml:lang":{_quote(literal.language)}{direction}'


def _triple_value(triple: Triple) -> str:
    subject, predicate, object_ = (encode_term(term) for term in triple)
    return f'{{"subject":{subject},"predicate":{predicate},"object":{object_}}}'


def encode_results(variables: Sequence[str], rows: Iterable[Row]) -> str:
    """A complete results object; unbound variables are left out of their binding.

    >>> encode_results(["a", "b"], [(NamedNode("urn:a"), None)])
    '{"head":{"vars":["a","b"]},"results":{"bindings":[{"a":{"type":"uri","value":"urn:a"}}]}}'
    """
    names = [_quote(name) for name in variables]
    bindings = ",".join([_binding(names, row) for row in rows])
    return f'{{"head":{{"vars":[{",".join(names)}]}},"results":{{"bindings":[{bindings}]}}}}'


def _binding(names: list[str], row: Row) -> str:
    members = [
        f"{name}:{encode_term(term)}"
        for name, term in zip(names, row, strict=True)
        if term is not None
    ]
    return f"{{{','.join(members)}}}"


class NotificationEncoder:
    """Encodes notifications; subscribers of one SPU share the text of their results.

    The engine hands one ResultsDelta to all of them one after another, so that remembering the
    last one is enough.
    """

    def __init__(self) -> None:
        self._results = ResultsDelta(())
        self._text = _results_members(self._results)

    def encode(self, notification: Notification, merged: int = 1) -> str:
        """The message; `merged` says how many of the engine's notifications are in it."""
        members = [f'"spuid":{_quote(notification.spuid)}']
        if notification.alias is not None:
            members.append(f'"alias":{_quote(notification.alias)}')
        members.append(f'"sequence":{notification.sequence},"time":{notification.time}')
        if merged > 1:
            members.append(f'"merged":{merged}')
        members.append(self._encode_results(notification.results))
        return f'{{"notification":{{{",".join(members)}}}}}'

    def _encode_results(self, results: ResultsDelta) -> str:
        if results is not self._results:
            self._results, self._text = results, _results_members(results)
        return self._text


def _results_members(results: ResultsDelta) -> str:
    added = encode_results(results.variables, results.added)
    removed = encode_results(results.variables, results.removed)
    return f'"addedResults":{added},"removedResults":{removed}'


def error_object(code: str, description: str, status: int, alias: str | None = None) -> JsonObject:
    """The error object of SPARQL 1.1 SE: always its three members, the alias where known."""
    members: JsonObject = {"error": code, "error_description": description, "status_code": status}
    return members if alias is None else {**members, "alias": alias}


def encode_error(error: GatewayError, alias: str | None = None) -> str:
    """The error as a message of SPARQL 1.1 SE."""
    return json.dumps(error_object(error.code, str(error), error.http_status, alias))


def encode_unsubscribed(spuid: str) -> str:
    """The answer to an unsubscribe."""
    return json.dumps({"unsubscribed": {"spuid": spuid}})


class BadMessageError(BadRequestError):
    """A WebSocket message that is no request; carries its alias where that could be read."""

    def __init__(self, description: str, hint: str = "", alias: str | None = None) -> None:
        super().__init__(description, hint)
        self.alias = alias


@dataclass(frozen=True, slots=True)
class Subscribe:
    """A request to subscribe to SPARQL text over a dataset."""

    sparql: str
    alias: str | None = None
    default_graphs: tuple[NamedNode, ...] = ()
    named_graphs: tuple[NamedNode, ...] = ()


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """A request to end a subscription."""

    spuid: str
    alias: str | None = None


def decode_message(text: str) -> Subscribe | Unsubscribe:
    """A client's message. Members we do not know are ignored. Raises BadMessageError.

    >>> decode_message('{"unsubscribe":{"spuid":"sepa://subscription/1","timeout":5000}}')
    Unsubscribe(spuid='sepa://subscription/1', alias=None)
    """
    message = _json_object(text)
    requests = [kind for kind in ("subscribe", "unsubscribe") if kind in message]
    if len(requests) != 1:
        raise BadMessageError("the message has no request", 'send one "subscribe" or "unsubscribe"')
    kind = requests[0]
    body = message[kind]
    if not isinstance(body, dict):
        raise BadMessageError(f'"{kind}" is not an object', f'send {{"{kind}":{{...}}}}')
    alias = _alias(body)
    try:
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
    return alias if isinstance(alias, str) else None


def _decode_subscribe(body: Mapping[str, object], alias: str | None) -> Subscribe:
    return Subscribe(
        _text_member(body, "sparql"),
        alias,
        graph_names(_strings(body, "default-graph-uri")),
        graph_names(_strings(body, "named-graph-uri")),
    )


def _decode_unsubscribe(body: Mapping[str, object]) -> Unsubscribe:
    return Unsubscribe(_text_member(body, "spuid"), _alias(body))


def _text_member(body: Mapping[str, object], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise BadRequestError(f'"{name}" is missing or not a string')
    return value


def _strings(body: Mapping[str, object], name: str) -> list[str]:
    """A list of strings; clients in use also send one bare string, or null for none."""
    value = body.get(name)
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
