"""`Mapping`: which observation a topic filter gives; the value form of a `gw:Mapping` node.

Mappings are RDF in the store (graph .../mappings, terms in ontologies/gateway.ttl); this is what
an adapter compiles. IRIs of sensor and feature may be templates: `{1}`, `{2}` ... stand for the
topic levels that the filter's wildcards matched, `{name}` for a SenML record's resolved name,
`{$.id}` for what stands at that path of a document; values are percent-encoded, so one level cannot
become two.
"""

from dataclasses import dataclass
from enum import Enum, unique


@unique
class Retained(Enum):
    """What the results of a retained message are, which the broker kept for nobody knows how long.

    SEED: the state to begin with, where nothing is known of the stream yet. HISTORY: observations
    of the past. DROP: nothing. Results with a time of their own are taken as what they are.
    """

    SEED = "seed"
    HISTORY = "history"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Mapping:
    """One observed stream, or one family of streams, of an MQTT topic filter.

    `format` names a module of adapters.formats. `selector` says where the result stands: a JSON
    path, a regular expression with one group, a SenML name; empty for a bare scalar.
    `time_selector` and `sequence_selector` do the same for the device's time and counter.

    `unit` (QUDT IRI or a symbol of the crosswalk) is that of the observations; `device_unit` that
    of the payload's numbers where it is another one and the payload does not tell it itself.
    `true_value` and `false_value` are the words of this device for the two truth values.
    `retained` says what a retained message is worth. `expires_after_s`: silence for so many
    seconds is absence. `availability_topic` is a topic
    filter with the wildcards of `topic_filter`, on which the device says whether it is there;
    `availabilities` are several such topics, with words of their own, as JSON. `sensor_class` is
    the IRI of the class that the sensor is of, a device's model or a kind of sensor.

    A number of the payload times `scale` plus `offset`, decimal numbers, is the result, in
    `device_unit` where there is one. `condition` is one on the document of the payload: where
    it does not hold the mapping has nothing to say of the message. `decimal_sign` is that of
    numbers in texts, a comma or a point; where it is empty, what can be read in two ways is a
    fault.
    """

    iri: str
    topic_filter: str
    format: str
    sensor: str
    observed_property: str
    feature_of_interest: str
    selector: str = ""
    unit: str | None = None
    time_selector: str = ""
    sequence_selector: str = ""
    device_unit: str | None = None
    true_value: str = ""
    false_value: str = ""
    expires_after_s: float | None = None
    availability_topic: str = ""
    retained: str = Retained.SEED.value
    availabilities: str = ""
    sensor_class: str | None = None
    scale: str = ""
    offset: str = ""
    condition: str = ""
    decimal_sign: str = ""


class MappingError(ValueError):
    """A mapping that cannot be compiled: `mapping` is its IRI, `member` the wrong member."""

    def __init__(self, mapping: str, member: str, reason: str) -> None:
        super().__init__(f"mapping <{mapping}>, {member}: {reason}")
        self.mapping = mapping
        self.member = member
        self.reason = reason
