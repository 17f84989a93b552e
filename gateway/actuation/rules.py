"""Republish rules: rows of a SPARQL subscription become MQTT messages; so a query drives a fan.

Rules are RDF beside the mappings and are learned the same way. A rule names a query, a topic
template and a payload template; each added (or removed) row fills them. Sequence 0 sends nothing
unless the rule says `onStart`: a restart of the gateway commands nothing.
"""

import asyncio
import json
import logging
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pyoxigraph import BlankNode, Literal, NamedNode

from gateway.engine import Notification, SubscribeRequest
from gateway.engine.windowed.over import OVER_NOTHING, OverWindows, over_of
from gateway.errors import GatewayError, WindowError
from gateway.rdf.answer import Answer
from gateway.rdf.namespaces import GW, XSD
from gateway.rdf.solutions import Solution, solution
from gateway.rdf.terms import Term
from gateway.runtime.loop_calls import LoopCalls
from gateway.scheduler.subscriptions import Subscriptions
from jsap.template import Template

log = logging.getLogger(__name__)

_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_UNSAFE = re.compile(r"[/+#%\x00-\x1f\x7f]")
_NO_TOPIC = re.compile(r"[+#\x00]")
_LONGEST_TOPIC = 65_535
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBERS = frozenset(XSD + name for name in ("integer", "decimal", "double", "float"))


class Publisher(Protocol):
    """Where commands go out."""

    def publish(self, topic: str, payload: bytes, qos: int, retain: bool) -> None:
        """Send a message; may be called from any thread, does not wait."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What to publish when rows of a query come (or go).

    `topic` and `payload` are templates with `{variable}` places. With `infer` the rows are of what
    follows too; `over` are the windows that the query has beside the store, and
    the gateways that it is asked of.
    """

    iri: str
    sparql: str
    topic: str
    payload: str
    on_removed: bool = False
    qos: int = 0
    retain: bool = False
    on_start: bool = False
    infer: bool = False
    over: OverWindows = OVER_NOTHING

    def request(self) -> SubscribeRequest:
        """What it subscribes to."""
        return self.over.asked(SubscribeRequest(self.sparql, infer=self.infer))


def fill_topic(template: str, row: Solution) -> str:
    """The topic: a bound value fills exactly one level, `/ + # %` and controls are escaped.

    Raises ValueError for an unbound variable or an empty level.

    >>> fill_topic("fan/{room}/set", {"room": Literal("a/b#")})
    'fan/a%2Fb%23/set'
    """

    def place(match: re.Match[str]) -> str:
        value = _UNSAFE.sub(_escape, _value(row, match[1]))
        if not value:
            raise ValueError(f"?{match[1]} is empty and cannot be a topic level")
        return value

    topic = _PLACE.sub(place, template)
    if not topic or _NO_TOPIC.search(topic) or len(topic.encode()) > _LONGEST_TOPIC:
        raise ValueError(f"{topic!r} is no topic to publish to")
    return topic


def _escape(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02X}"


def fill_payload(template: str, row: Solution) -> bytes:
    """The payload; in a JSON template values are JSON, inside quotes and outside.

    Raises ValueError for an unbound variable.

    >>> fill_payload('{"state":"{s}","level":{n}}', {"s": Literal('o"n'), "n": Literal(3)})
    b'{"state":"o\\\\"n","level":3}'
    """
    text = template.lstrip()
    if not text.startswith(("{", "[")) or _PLACE.match(text):
        return _PLACE.sub(lambda match: _value(row, match[1]), template).encode()
    filled: list[str] = []
    end = 0
    in_quotes = False
    for match in _PLACE.finditer(template):
        between = template[end : match.start()]
        in_quotes ^= len(re.findall(r'(?<!\\)"', between)) % 2 == 1
        filled += (between, _json_value(row, match[1], in_quotes))
        end = match.end()
    return ("".join(filled) + template[end:]).encode()


def _value(row: Solution, name: str) -> str:
    term = row.get(name)
    if not isinstance(term, NamedNode | Literal | BlankNode):
        raise ValueError(f"?{name} is not bound in the row")
    return term.value


def _json_value(row: Solution, name: str, in_quotes: bool) -> str:
    value = _value(row, name)
    term = row[name]
    if in_quotes:
        return json.dumps(value, ensure_ascii=False)[1:-1]
    datatype = term.datatype.value if isinstance(term, Literal) else ""
    if datatype == XSD + "boolean" and value in {"true", "false"}:
        return value
    if datatype in _NUMBERS and _JSON_NUMBER.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


class Republisher:
    """Keeps one subscription per rule and publishes what they bring.

    `queries` are the profile's by id, for rules that name one. `note` is told of each command: its
    rule, topic and payload. `run` is a task of the event loop.
    """

    def __init__(
        self,
        subscriptions: Subscriptions,
        publisher: Publisher,
        queries: Mapping[str, Template],
        loop_calls: LoopCalls,
        note: Callable[[str, str, bytes], None] = lambda *_: None,
    ) -> None:
        self.published = 0
        self.failed = 0
        self._refused: Mapping[str, str] = {}
        self._not_started: dict[str, str] = {}
        self._failing: dict[str, str] = {}
        self._subscriptions = subscriptions
        self._publisher = publisher
        self._queries = queries
        self._loop_calls = loop_calls
        self._note = note
        self._learning = threading.Lock()
        self._answer = Answer()
        self._spuids: dict[Rule, str] = {}
        self._over: list[str] = []
        self._wanted: frozenset[Rule] = frozenset()
        self._changes: asyncio.Queue[frozenset[Rule] | None] = asyncio.Queue()

    @property
    def errors(self) -> Mapping[str, str]:
        """Why rules are not in force, or could not send what they had to say last, by IRI."""
        return {**self._failing, **self._not_started, **self._refused}

    @property
    def standing(self) -> Mapping[str, str]:
        """The rules in force, by the spuid of their subscription; for the event loop."""
        return {spuid: rule.iri for rule, spuid in self._spuids.items()}

    def learn(self, notification: Notification) -> None:
        """The sink of the RULES subscription: take up what changed."""
        with self._learning:
            self._answer.change(notification.results)
            self._take_up()

    def renew(self, queries: Mapping[str, Template]) -> None:
        """Have other queries of the profile; rules that name one of them follow."""
        with self._learning:
            self._queries = queries
            self._take_up()

    def again(self) -> None:
        """Try those that could not start once more: what they ask may be there now; any thread."""
        self._loop_calls.call(self._changes.put_nowait, None)

    def _take_up(self) -> None:
        rules: set[Rule] = set()
        refused: dict[str, str] = {}
        for fields in self._answer.fields():
            try:
                rules.add(rule_of(fields, self._queries))
            except ValueError as error:
                iri = _lexical(fields, "rule")
                refused[iri] = str(error)
                if self._refused.get(iri) != str(error):
                    log.error("rule_refused", extra={"rule": iri, "reason": str(error)})
        self._refused = refused
        self._loop_calls.call(self._changes.put_nowait, frozenset(rules))

    async def run(self) -> None:
        """Subscribe and unsubscribe as rules come and go, until cancelled."""
        while True:
            changed = await self._changes.get()
            wanted = self._wanted = self._wanted if changed is None else changed
            self._not_started.clear()
            while self._over:
                await self._subscriptions.unsubscribe(self._over.pop())
            for rule in [rule for rule in self._spuids if rule not in wanted]:
                await self._subscriptions.unsubscribe(self._spuids.pop(rule))
                self._failing.pop(rule.iri, None)
            for rule in wanted - set(self._spuids):
                await self._start(rule)
            self._changes.task_done()

    async def settled(self) -> None:
        """Wait until the rules learned so far are in force, while `run` runs."""
        crossed = asyncio.Event()  # what was learned before may still be on its way into the loop
        self._loop_calls.call(crossed.set)
        await crossed.wait()
        await self._changes.join()

    async def _start(self, rule: Rule) -> None:
        try:
            self._spuids[rule] = await self._subscriptions.subscribe(
                rule.request(),
                sink=self._sink(rule),
                ended=lambda error: self._loop_calls.call(self._ended, rule, error),
            )
        except GatewayError as error:
            self._not_started[rule.iri] = str(error)
            log.error("rule_refused", extra={"rule": rule.iri, "reason": str(error)})

    def _ended(self, rule: Rule, error: GatewayError) -> None:
        """Have a rule that is served no more begin again now, or when rules or queries change."""
        log.error("rule_ended", extra={"rule": rule.iri, "reason": str(error)})
        spuid = self._spuids.pop(rule, None)
        if spuid is not None:
            self._over.append(spuid)
            self._changes.put_nowait(None)

    def _sink(self, rule: Rule) -> Callable[[Notification], None]:
        def publish(notification: Notification) -> None:
            if notification.sequence == 0 and not rule.on_start:
                return
            results = notification.results
            for row in results.removed if rule.on_removed else results.added:
                self._publish(rule, solution(results.variables, row))

        return publish

    def _publish(self, rule: Rule, row: Solution) -> None:
        try:
            topic, payload = fill_topic(rule.topic, row), fill_payload(rule.payload, row)
        except ValueError as error:
            self.failed += 1
            self._failing[rule.iri] = str(error)
            log.error("rule_failed", extra={"rule": rule.iri, "reason": str(error)})
            return
        self.published += 1
        if self._failing:
            self._failing.pop(rule.iri, None)
        self._publisher.publish(topic, payload, rule.qos, rule.retain)
        self._note(rule.iri, topic, payload)


_TRUE = frozenset({"true", "1"})
"""XML Schema Part 2 (2004), section 3.2.2: the lexical forms of true."""


def rule_of(row: Mapping[str, Term | None], queries: Mapping[str, Template]) -> Rule:
    """A rule from its row of the query RULES; `queries` are those that it may name.

    Raises ValueError with what is wrong.
    """
    sparql, infer, over = query_of(row, queries)
    on, qos = _lexical(row, "on"), _lexical(row, "qos") or "0"
    if on not in {GW + "Added", GW + "Removed"}:
        raise ValueError("gw:on is gw:Added or gw:Removed")
    if qos not in {"0", "1", "2"}:
        raise ValueError("gw:qos is 0, 1 or 2")
    return Rule(
        _lexical(row, "rule"),
        sparql,
        _lexical(row, "topicTemplate"),
        _lexical(row, "payloadTemplate"),
        on_removed=on == GW + "Removed",
        qos=int(qos),
        retain=_lexical(row, "retain") in _TRUE,
        on_start=_lexical(row, "onStart") in _TRUE,
        infer=infer,
        over=over,
    )


def query_of(
    row: Mapping[str, Term | None], queries: Mapping[str, Template]
) -> tuple[str, bool, OverWindows]:
    """The text, whether it is about what follows too, and the windows beside the store.

    Raises ValueError where there is no query.
    """
    sparql, over = _lexical(row, "queryText"), OVER_NOTHING
    query_id, infer = _lexical(row, "queryId"), False
    if query_id:
        if query_id not in queries:
            raise ValueError(f"the profile has no query {query_id}")
        query = queries[query_id]
        sparql, infer, over = query.text, query.infer or False, _over(query)
    if said := _lexical(row, "infer"):
        infer = said in _TRUE
    if not sparql:
        raise ValueError("give gw:sparql or gw:query")
    return sparql, infer, over


def _over(query: Template) -> OverWindows:
    """Raises ValueError for windows that cannot be."""
    try:
        return over_of(query)
    except WindowError as error:
        raise ValueError(f"the query {query.id}: {error}") from error


def _lexical(row: Mapping[str, Term | None], name: str) -> str:
    term = row.get(name)
    return term.value if isinstance(term, NamedNode | Literal) else ""
