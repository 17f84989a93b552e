"""`survey`: one look at all that is to be announced, from the graph to entities.

Place: called by the publisher in a thread of its own; what it is given does not change meanwhile.
"""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Mapping as Table
from dataclasses import dataclass
from datetime import UTC, datetime

from pyoxigraph import NamedNode

from adapters.values.mapping import Mapping
from adapters.values.observation import StreamKey
from gateway.actuation.actuator import Actuator
from gateway.exchange.homeassistant.classes import term_of
from gateway.exchange.homeassistant.description import Draft, Naming, describe, read_entity
from gateway.exchange.homeassistant.entity import Described, State
from gateway.exchange.homeassistant.facts import Asked, Seen, facts_of
from gateway.exchange.homeassistant.naming import clean, name_of
from gateway.exchange.homeassistant.origin import Origins
from gateway.exchange.homeassistant.topics import Topics
from gateway.exchange.homeassistant.virtual_sensors import Row, VirtualSensor
from gateway.ingest.labels import Query
from gateway.rdf.rights import Rights

Rows = Sequence[tuple[VirtualSensor, Sequence[Row]]]

_NOW = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Known:
    """What the tables have that learn from the graph: mappings, actuators, virtual sensors."""

    mappings: Sequence[Mapping]
    actuators: Sequence[Actuator]
    rows: Rows

    def each_row(self) -> Iterator[tuple[VirtualSensor, Row]]:
        """The rows, each with its virtual sensor."""
        for sensor, found in self.rows:
            for row in found:
                yield sensor, row


@dataclass(frozen=True, slots=True)
class Survey:
    """What stays the same from one look to the next.

    `streams` gives the text of the profiles' STREAMS, `left_out` are formats (settings.py).
    """

    query: Query
    streams: Callable[[], str]
    left_out: frozenset[str]
    rights: Rights

    def look(self, known: Known, naming: Naming) -> Described:
        """What is to be announced now. Raises a GatewayError."""
        origins = Origins(known.mappings, self.left_out)

        def wanted(stream: StreamKey) -> bool:
            return not origins.has(stream)

        actuators = [each for each in known.actuators if not origins.commands(each)]
        also = frozenset(_things(actuators, known.rows))
        facts = facts_of(Asked(self.query, self.streams(), self.rights, wanted, also))
        others = [_draft(*each, facts.labels, naming.topics) for each in known.each_row()]
        return describe(facts, actuators, naming, others)


def virtual_entity(sensor: VirtualSensor, row: Row, topics: Topics) -> str:
    """The id of the entity that a row of a virtual sensor is."""
    return topics.entity(f"virtual\n{sensor.iri}\n{row.device}")


def _draft(sensor: VirtualSensor, row: Row, labels: Table[str, str], topics: Topics) -> Draft:
    """A row's entity; the property says of which class it is, the label how it is called."""
    term = term_of(sensor.observed_property)
    seen = Seen(row.value, row.unit, _NOW)
    name = clean(sensor.label) or name_of(sensor.observed_property or sensor.iri, labels)
    return Draft(
        read_entity(virtual_entity(sensor, row, topics), seen, term),
        State(row.value, row.unit),
        row.device,
        name,
        name_of(sensor.iri, labels),
        device_name=row.name,
    )


def _things(actuators: Sequence[Actuator], rows: Rows) -> Iterator[str]:
    """Resources whose labels are asked for, beside those of streams."""
    for each in actuators:
        yield from filter(None, (each.sensor, each.observed_property, each.feature))
    for sensor, found in rows:
        yield from filter(_is_iri, (sensor.observed_property, *(row.device for row in found)))


def _is_iri(text: str) -> bool:
    try:
        NamedNode(text)
    except ValueError:
        return False
    return True
