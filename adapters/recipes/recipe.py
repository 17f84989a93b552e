"""`Recipe` and `Found`: how a program's topics are recognised, and what its values are.

Place on the way: adapters.discovery asks the recipes whose topic filters match before it asks the
formats. What comes of a recipe are mappings of a generic format, so nothing of it is needed when
messages are decoded: whoever changes such a mapping changes an ordinary one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adapters.documents.naming import truth_words
from adapters.values.mapping import Mapping as GwMapping
from adapters.values.meaning import Meaning, Told, own
from adapters.values.payload import Json, Payload
from adapters.values.properties import VOCABULARY, Kind, Shape
from adapters.values.proposal import Names, Proposal
from adapters.values.result import BOOLEAN, NUMERIC, JsonNumber, Result, bare_result, json_result
from adapters.values.usual_words import Usual, usual

WHAT = "Is this a measured value, in this unit, and of what?"
UNIT = "In which unit? The device does not say."


@dataclass(frozen=True, slots=True)
class Found:
    """A value of one message.

    `device` is what the program calls the device, `member` what it calls the value; `reading` are
    members of the mapping besides those that every mapping has, by their names there.
    """

    device: str
    member: str
    meaning: Meaning
    unit: str | None = None
    question: str = ""
    reading: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A program: `filters` are those of its topics, `read` makes nothing of foreign messages.

    `name` is the family of its proposals; `format` that of its mappings. `shared`: devices share
    its topics, so that every message may be of one that was not heard before.
    """

    name: str
    filters: tuple[str, ...]
    read: Callable[[Payload], Iterable[Found]]
    format: str = "json"
    shared: bool = False

    def propose(self, payload: Payload, names: Names) -> Sequence[Proposal]:
        """A mapping for each value that the recipe knows or asks about."""
        topic = payload.message.topic
        return [self._proposal(topic, found, names) for found in self.read(payload)]

    def _proposal(self, topic: str, found: Found, names: Names) -> Proposal:
        device, member = found.device, found.member
        mapping = GwMapping(
            names.mapping(self.name, device, member),
            topic,
            self.format,
            names.sensor(self.name, device, member),
            names.observed_property(found.meaning),
            names.feature(self.name, device),
            unit=found.unit,
        )
        mapping = replace(mapping, **dict[str, Any](found.reading))
        label = f"{member} of {device}"
        return Proposal(mapping, self.name, device, label, found.meaning, question=found.question)


def shape_of(value: Json) -> Shape | None:
    """What a value of a document is; None where it is none."""
    result = json_result(value)
    return _shape(result) if isinstance(result, Result) else None


def bare_shape(payload: Payload) -> Shape | None:
    """What a bare text is; None where it is no text or says that there is no value."""
    text = payload.text()
    if not isinstance(text, str):
        return None
    result = bare_result(text)
    if isinstance(result, Result):
        return _shape(result)
    return Shape.WORD if text.strip() and text.strip().isprintable() else None


def _shape(result: Result) -> Shape:
    if result.datatype in NUMERIC:
        return Shape.NUMBER
    return Shape.TRUTH if result.datatype == BOOLEAN else Shape.WORD


def read_usual(name: str, value: Json) -> tuple[Usual, str]:
    """What a name of a program that is strict about names means, and what to ask if it is new."""
    found = usual(name, Told(shape=shape_of(value)))
    return found, "" if found.meaning.is_known else WHAT


def words(meaning: Meaning, value: Json) -> dict[str, str]:
    """The members of a mapping for words that are truth values."""
    true, false = truth_words(meaning, value)
    return {"true_value": true, "false_value": false} if true else {}


def known(term: str) -> Meaning:
    """A term of the vocabulary."""
    return Meaning(term, VOCABULARY[term].kind, True)


def diagnostic(word: str) -> Meaning:
    """A value of the device itself that keeps its own name."""
    return own(word, Told(kind=Kind.DIAGNOSTIC))


def equals(path: str, value: Json) -> str:
    """A condition that a member has this value; empty for what is no short text or number."""
    if isinstance(value, bool) or not isinstance(value, str) or not 0 < len(value) <= 100:
        return ""
    if isinstance(value, JsonNumber):
        return f"@{path} == {value}" if len(value) <= 18 else ""
    if not value.isprintable():
        return ""
    quoted = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"@{path} == '{quoted}'"


def members(payload: Payload) -> dict[str, Json]:
    """The object that a payload is; empty where it is none."""
    document = payload.document()
    return document if isinstance(document, dict) else {}


def levels_of(payload: Payload) -> list[str]:
    """The levels of the message's topic."""
    return payload.message.topic.split("/")


def bare(found: Iterator[Found] | Sequence[Found], payload: Payload) -> Iterator[Found]:
    """What is found of a bare payload: a word of a state is read as the word that it is."""
    shape = bare_shape(payload)
    for each in found:
        selector = {"selector": "string"} if shape is Shape.WORD else {}
        yield Found(
            each.device,
            each.member,
            each.meaning,
            each.unit if shape is Shape.NUMBER else None,
            each.question,
            {**selector, **each.reading},
        )
