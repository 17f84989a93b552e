"""`Actuators`: all of them, learned by a subscription to our own engine, as mappings are.

Place on the way of the data: the sink of the query ACTUATORS; read by the consumer, the HTTP gate
and the command topics. The table is replaced as a whole.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pyoxigraph import Literal, NamedNode

from gateway.actuation.actuator import Actuator
from gateway.engine import Notification
from gateway.rdf.answer import Answer
from gateway.rdf.terms import Term

log = logging.getLogger(__name__)

_VALUE = "value"


class Actuators:
    """`by_iri` and `by_name` are what there is now; `errors` says what was refused, and why.

    `subjects` are the properties and features that they act on.
    """

    def __init__(self) -> None:
        self.by_iri: Mapping[str, Actuator] = MappingProxyType({})
        self.by_name: Mapping[str, Actuator] = MappingProxyType({})
        self.errors: Mapping[str, str] = MappingProxyType({})
        self.subjects: frozenset[tuple[str, str]] = frozenset()
        self._answer = Answer()
        self._listeners: list[Callable[[], None]] = []

    def on_change(self, listener: Callable[[], None]) -> None:
        """Have `listener` called after each change, in the scheduler's thread."""
        self._listeners.append(listener)

    def learn(self, notification: Notification) -> None:
        """Take up what changed."""
        self._answer.change(notification.results)
        groups: dict[str, list[dict[str, str]]] = {}
        for row in self._answer.fields():
            fields = {name: _text(term) for name, term in row.items()}
            groups.setdefault(fields["actuator"], []).append(fields)
        self._replace(groups)
        for listener in self._listeners:
            listener()

    def find(self, name: str) -> Actuator | None:
        """By its IRI or its name."""
        return self.by_iri.get(name) or self.by_name.get(name)

    def _replace(self, groups: Mapping[str, Sequence[dict[str, str]]]) -> None:
        known: dict[str, Actuator] = {}
        errors: dict[str, str] = {}
        names = Counter(group[0]["name"] for group in groups.values() if group[0]["name"])
        for iri, group in sorted(groups.items()):
            try:
                known[iri] = _actuator(iri, group, names)
            except ValueError as error:
                errors[iri] = str(error)
                if self.errors.get(iri) != str(error):
                    log.error("actuator_refused", extra={"actuator": iri, "reason": str(error)})
        self.by_iri = MappingProxyType(known)
        self.by_name = MappingProxyType({each.name: each for each in known.values()})
        self.subjects = frozenset((each.observed_property, each.feature) for each in known.values())
        self.errors = MappingProxyType(errors)


def _actuator(iri: str, group: Sequence[dict[str, str]], names: Counter[str]) -> Actuator:
    """An actuator from its rows, which differ in their allowed values alone."""
    several = [key for key in group[0] if key != _VALUE and len({row[key] for row in group}) > 1]
    if several:
        raise ValueError(f"{', '.join(several)} has several values")
    if names[group[0]["name"]] > 1:
        raise ValueError(f"name {group[0]['name']!a} is that of another actuator too")
    return Actuator.of(iri, group[0], [row[_VALUE] for row in group if row[_VALUE]])


def _text(term: Term | None) -> str:
    return term.value if isinstance(term, NamedNode | Literal) else ""
