"""Mappings, learned by a subscription to our own engine (seed 001, section 5.4).

Mappings are RDF in the store; whoever changes them by UPDATE changes, with the next notification,
what ingest makes of a message. The registry is replaced as a whole, so a message is decoded by
the old mappings or by the new ones, never by a mixture.
"""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from math import inf

from pyoxigraph import Literal, NamedNode

from adapters.mapping import Mapping, MappingError, Retained
from adapters.memory import Memory
from adapters.registry import Registry
from gateway.engine import Notification
from gateway.rdf.solutions import Row
from gateway.rdf.terms import Term

log = logging.getLogger(__name__)

Changed = Callable[[frozenset[str]], None]


class MappingTable:
    """The sink of the MAPPINGS subscription; `registry` is what ingest decodes with.

    `memory` is what stateful families know; it outlives the registries.
    """

    def __init__(self) -> None:
        self.memory = Memory()
        self.registry: Registry = Registry.compile((), self.memory)[0]
        self.errors: tuple[MappingError, ...] = ()
        self._rows: Counter[Row] = Counter()
        self._listeners: list[Changed] = []

    def on_change(self, listener: Changed) -> None:
        """Have the topic filters told after each change, in the scheduler's thread."""
        self._listeners.append(listener)

    def learn(self, notification: Notification) -> None:
        """Take up what changed and compile the mappings again."""
        results = notification.results
        self._rows.update(results.added)
        self._rows.subtract(results.removed)
        self._rows += Counter()
        rows = [dict(zip(results.variables, row, strict=True)) for row in self._rows]
        mappings, ambiguous = _mappings(rows)
        self.registry, refused = Registry.compile(mappings, self.memory)
        self.errors = (*ambiguous, *refused)
        for error in self.errors:
            log.error("mapping_refused", extra={"reason": str(error)})
        for listener in self._listeners:
            listener(self.registry.topic_filters)


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
