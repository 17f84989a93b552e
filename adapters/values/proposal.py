"""`Proposal`: a mapping that a device, or the shape of an unknown message, suggests.

Place on the way: adapters.discovery asks each family to `propose`; the gateway shows proposals and
writes the confirmed ones into the graph of mappings. A proposal by itself decodes nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from adapters.values.iri_template import percent_encoded
from adapters.values.mapping import Mapping
from adapters.values.meaning import Meaning
from adapters.values.memory import Memory
from adapters.values.payload import Payload
from adapters.values.properties import VOCABULARY


@dataclass(frozen=True, slots=True)
class Command:
    """How the observed property is set: `payload` with `{value}` in it, published to `topic`.

    `values` are the words that are allowed, empty for numbers and free text; `minimum`,
    `maximum` and `step` are numbers as the device wrote them, empty where it told none.
    `true_value` and `false_value` are what is commanded for the truth values, where that is not
    what is read.
    """

    topic: str
    payload: str = "{value}"
    values: tuple[str, ...] = ()
    minimum: str = ""
    maximum: str = ""
    step: str = ""
    retain: bool = False
    true_value: str = ""
    false_value: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mapping that may be right.

    `family` is the name of a format or a recipe, `device` what the family calls the device
    (proposals of one device belong together), `label` for people, `meaning` what is observed; a
    proposal whose meaning is not known is never accepted automatically. `command` is there for what
    can be set. `question` is what a person has to decide first, beside that of the meaning.
    """

    mapping: Mapping
    family: str
    device: str
    label: str
    meaning: Meaning
    command: Command | None = None
    question: str = ""

    @property
    def questions(self) -> str:
        """All that a person is asked, empty where nothing is."""
        return " ".join(filter(None, (self.meaning.question, self.question)))


@dataclass(frozen=True, slots=True)
class Names:
    """The IRIs of proposals, below one base; each piece is percent-encoded.

    Properties that the vocabulary does not have are below `properties` where that is given: a word
    of a family is the same at gateways with one base, while a sensor is one gateway's.

    >>> Names("urn:x:").sensor("zigbee2mqtt", "0x00158d", "temperature")
    'urn:x:sensor/zigbee2mqtt/0x00158d/temperature'
    """

    base: str = "https://sosa-gateway.example/id/"
    properties: str = ""

    def mapping(self, family: str, device: str, member: str) -> str:
        """The IRI of a gw:Mapping; the same device and member always give the same one."""
        return self._iri("mapping", family, device, member)

    def sensor(self, family: str, device: str, member: str) -> str:
        """The IRI of a sosa:Sensor."""
        return self._iri("sensor", family, device, member)

    def feature(self, family: str, device: str) -> str:
        """The IRI of the feature of interest as long as nobody has said which room it is."""
        return self._iri("feature", family, device)

    def observed_property(self, meaning: Meaning) -> str:
        """The IRI of a property: the vocabulary's, or ours for a device's own word."""
        if meaning.is_known:
            return VOCABULARY[meaning.name].iri
        return (self.properties or self.base) + "property/" + percent_encoded(meaning.name)

    def _iri(self, *pieces: str) -> str:
        return self.base + "/".join(map(percent_encoded, pieces))


Propose: TypeAlias = Callable[[Payload, Names, Memory], Sequence[Proposal] | None]
"""What a family makes of one message: its proposals, empty where the message is not its own.

None where the device says that another topic will announce it: nothing is withdrawn.
Never raises for any topic and bytes. The Memory is discovery's, for announcements in several
messages.
"""
