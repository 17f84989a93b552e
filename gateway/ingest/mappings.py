"""Mappings, learned by a subscription to our own engine.

Mappings are RDF in the store; whoever changes them by UPDATE changes, with the next notification,
what ingest makes of a message. The registry is replaced as a whole, so a message is decoded by
the old mappings or by the new ones, never by a mixture.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from math import inf

from pyoxigraph import Literal, NamedNode, Quad

from adapters.registry import Registry
from adapters.values.mapping import Mapping, MappingError, Retained
from adapters.values.memory import Memory
from gateway.engine import Notification
from gateway.rdf.answer import Answer
from gateway.rdf.namespaces import GW
from gateway.rdf.terms import Term

log = logging.getLogger(__name__)

Changed = Callable[[frozenset[str]], None]


class MappingTable:
    """The sink of the MAPPINGS subscription; `registry` is what ingest decodes with.

    `mappings` are those that it was compiled from, in order; `errors` say which were refused.
    `memory` is what stateful families know; it outlives the registries.
    """

    def __init__(self) -> None:
        self.memory = Memory()
        self.registry: Registry = Registry.compile((), self.memory)[0]
        self.mappings: tuple[Mapping, ...] = ()
        self.errors: tuple[MappingError, ...] = ()
        self._answer = Answer()
        self._listeners: list[Changed] = []

    def on_change(self, listener: Changed) -> None:
        """Have the topic filters told after each change, in the scheduler's thread."""
        self._listeners.append(listener)

    def learn(self, notification: Notification) -> None:
        """Take up what changed and compile the mappings again."""
        self._answer.change(notification.results)
        mappings, ambiguous = _mappings(list(self._answer.fields()))
        self.registry, refused = Registry.compile(mappings, self.memory)
        self.mappings, self.errors = tuple(mappings), (*ambiguous, *refused)
        for error in self.errors:
            log.error("mapping_refused", extra={"reason": str(error)})
        for listener in self._listeners:
            listener(self.registry.topic_filters)


def mapping_of(node: NamedNode, quads: Iterable[Quad]) -> Mapping:
    """The value of one gw:Mapping node. Raises MappingError: a member missing, or several values.

    Whether it compiles is the Registry's to say.
    """
    row: dict[str, Term | None] = {"mapping": node}
    for quad in quads:
        term = quad.predicate.value.removeprefix(GW)
        name = _COLUMNS.get(term, term)
        if name in row and term in _MEMBERS:
            raise MappingError(node.value, name, "has several values")
        row[name] = quad.object
    missing = [name for name in _NEEDED if name not in row]
    if missing:
        raise MappingError(node.value, ", ".join(missing), "is missing")
    return _mapping(row)


_COLUMNS = {"observedProperty": "property", "featureOfInterest": "feature"}
"""The columns of the query MAPPINGS that are not called as the terms of ontologies/gateway.ttl."""

_NEEDED = ("topicFilter", "format", "sensor", "property", "feature")

_MEMBERS = {
    *("topicFilter", "format", "sensor", "observedProperty", "featureOfInterest", "selector"),
    *("unit", "timeSelector", "sequenceSelector", "deviceUnit", "trueValue", "falseValue"),
    *("expiresAfter", "availabilityTopic", "retained", "availabilities", "sensorClass"),
    *("scale", "offset", "condition", "decimalSign"),
}


def _mappings(
    rows: Sequence[dict[str, Term | None]],
) -> tuple[list[Mapping], list[MappingError]]:
    """The mappings by IRI, and an error for each that has several values of a member.

    Such a one would make several observations of one value.
    """
    by_node: dict[Term | None, list[dict[str, Term | None]]] = {}
    for row in rows:
        by_node.setdefault(row["mapping"], []).append(row)
    errors = [_ambiguous(group) for group in by_node.values() if len(group) > 1]
    mappings = []
    for group in by_node.values():
        if len(group) == 1:
            try:
                mappings.append(_mapping(group[0]))
            except MappingError as error:
                errors.append(error)
    return sorted(mappings, key=lambda mapping: mapping.iri), errors


def _ambiguous(group: Sequence[dict[str, Term | None]]) -> MappingError:
    members = [name for name in group[0] if len({row[name] for row in group}) > 1]
    return MappingError(_text(group[0]["mapping"]), ", ".join(members), "has several values")


def _mapping(row: dict[str, Term | None]) -> Mapping:
    return Mapping(
        iri=_text(row["mapping"]),
        topic_filter=_text(row["topicFilter"]),
        format=_text(row["format"]),
        sensor=_text(row["sensor"]),
        observed_property=_text(row["property"]),
        feature_of_interest=_text(row["feature"]),
        selector=_text(row.get("selector")),
        unit=_text(row.get("unit")) or None,
        time_selector=_text(row.get("timeSelector")),
        sequence_selector=_text(row.get("sequenceSelector")),
        device_unit=_text(row.get("deviceUnit")) or None,
        true_value=_text(row.get("trueValue")),
        false_value=_text(row.get("falseValue")),
        expires_after_s=_seconds(row),
        availability_topic=_text(row.get("availabilityTopic")),
        retained=_text(row.get("retained")) or Retained.SEED.value,
        availabilities=_text(row.get("availabilities")),
        sensor_class=_text(row.get("sensorClass")) or None,
        scale=_text(row.get("scale")),
        offset=_text(row.get("offset")),
        condition=_text(row.get("condition")),
        decimal_sign=_text(row.get("decimalSign")),
    )


def _seconds(row: dict[str, Term | None]) -> float | None:
    text = _text(row.get("expiresAfter"))
    try:
        seconds = float(text) if text else None
    except ValueError:
        seconds = -1.0
    if seconds is not None and not 0 < seconds < inf:
        raise MappingError(
            _text(row["mapping"]), "expires_after", "is no number of seconds above 0"
        )
    return seconds


def _text(term: Term | None) -> str:
    return term.value if isinstance(term, NamedNode | Literal) else ""
