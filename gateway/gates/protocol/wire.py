"""What leaves as JSON: results, notifications and answers of SPARQL 1.1 SE, the error object.

Place on the way of the data: its last step, values into text; messages.py is the way back. Nothing
here waits or sends. Sources: SPARQL 1.1 Query Results JSON Format (W3C, 2013), sections 3 and 4;
triple terms and `its:dir` as in the SPARQL 1.2 draft; SPARQL 1.1 Subscribe Language and Secure
Event Protocol (SEPA's drafts).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from json.encoder import encode_basestring

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from gateway.engine import Notification
from gateway.engine.notification import EventRows, Federated
from gateway.engine.windowed.over import told
from gateway.errors import GatewayError
from gateway.rdf.namespaces import XSD
from gateway.rdf.solutions import ResultsDelta, Row
from gateway.rdf.terms import Term
from gateway.windows.info import WindowInfo

JsonObject = dict[str, object]

_quote = encode_basestring
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
    head, names, nothing = _head(tuple(variables))
    bindings = ",".join([_binding(names, row) for row in rows])
    return f"{head}{bindings}]}}}}" if bindings else nothing


@lru_cache(maxsize=256)
def _head(variables: tuple[str, ...]) -> tuple[str, tuple[str, ...], str]:
    """What stands before the bindings, the same for each notification; the names in these; none."""
    names = tuple(map(_quote, variables))
    head = f'{{"head":{{"vars":[{",".join(names)}]}},"results":{{"bindings":['
    return head, names, f"{head}]}}}}"


def _binding(names: Sequence[str], row: Row) -> str:
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
        alias = "" if notification.alias is None else f',"alias":{_quote(notification.alias)}'
        several = f',"merged":{merged}' if merged > 1 else ""
        windows = "" if notification.windows is None else _windows_member(notification.windows)
        events = "" if notification.events is None else _events_member(notification.events)
        if notification.federation is not None:
            events += _federation_member(notification.federation)
        return (
            f'{{"notification":{{"spuid":{_quote(notification.spuid)}{alias},'
            f'"sequence":{notification.sequence},"time":{notification.time}{several}{windows}{events},'
            f"{self._encode_results(notification)}}}}}"
        )

    def _encode_results(self, notification: Notification) -> str:
        if notification.form == "ASK":
            return _ask_members(notification)
        results = notification.results
        if results is not self._results:
            self._results, self._text = results, _results_members(results)
        return self._text


def _results_members(results: ResultsDelta) -> str:
    added = encode_results(results.variables, results.added)
    removed = encode_results(results.variables, results.removed)
    return f'"addedResults":{added},"removedResults":{removed}'


def _windows_member(windows: Mapping[str, WindowInfo]) -> str:
    """What a first notification says of its windows; the time of each is ISO 8601."""
    return f',"windows":{json.dumps({iri: told(info) for iri, info in windows.items()})}'


def _events_member(events: Iterable[EventRows]) -> str:
    """What a notification of mode `event` says of each event; its rows stand in this order."""
    return f',"events":{json.dumps([each._asdict() for each in events])}'


def _federation_member(federation: Federated) -> str:
    """Where gateways stood; what is not so is left out."""
    members: JsonObject = {"positions": dict(federation.positions)}
    if federation.gap is not None:
        members["gap"] = {
            gateway: {"from": first, "to": last}
            for gateway, (first, last) in federation.gap.items()
        }
    if federation.missing:
        members["missing"] = list(federation.missing)
    if federation.stale:
        members["stale"] = dict(federation.stale)
    if federation.merged:
        members["merged"] = True
    return f',"federation":{json.dumps(members)}'


def _ask_members(notification: Notification) -> str:
    """The answer now, and the one before; there was none before sequence 0."""
    now = "true" if notification.results.added else "false"
    was = "true" if notification.results.removed else "false"
    before = f',"boolean":{was}' if notification.sequence else ""
    return (
        f'"addedResults":{{"head":{{}},"boolean":{now}}},"removedResults":{{"head":{{}}{before}}}'
    )


def error_object(
    code: str, description: str, status: int, alias: str | None = None, spuid: str | None = None
) -> JsonObject:
    """The error object of SPARQL 1.1 SE: always its three members, alias and spuid where known."""
    members: JsonObject = {"error": code, "error_description": description, "status_code": status}
    if alias is not None:
        members["alias"] = alias
    if spuid is not None:
        members["spuid"] = spuid
    return members


def encode_error(error: GatewayError, alias: str | None = None, spuid: str | None = None) -> str:
    """The error as a message of SPARQL 1.1 SE; with a spuid it says that this one has ended."""
    return json.dumps(error_object(error.code, str(error), error.http_status, alias, spuid))


def encode_unsubscribed(spuid: str) -> str:
    """The answer to an unsubscribe."""
    return json.dumps({"unsubscribed": {"spuid": spuid}})


def encode_resumed(spuid: str, alias: str | None, sequence: int) -> str:
    """The answer to a resume: what follows begins behind this sequence."""
    members: JsonObject = {"spuid": spuid, "sequence": sequence}
    if alias is not None:
        members["alias"] = alias
    return json.dumps({"resumed": members})
