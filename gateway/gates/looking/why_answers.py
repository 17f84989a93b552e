"""What /mappings/why answers; docs/mappings.md shows it."""

from pydantic import Field

from gateway.gates.http.json_router import Answer


class LineTold(Answer):
    """An observation's line in the journal, `segment` being the file."""

    position: str
    segment: str
    sensor: str
    property: str
    feature: str
    result: str
    datatype: str
    unit: str | None
    time: str | None
    sequence: str | None
    ingested_at: str


class TemplateTold(Answer):
    """The template that wrote it, and where that stands."""

    id: str
    file: str


class KeptMessage(Answer):
    """The message that it came from, and where that is still kept."""

    kept_in: str
    topic: str
    received_at: str
    retained: bool
    payload: str = ""
    payload_base64: str = ""


class MappingTold(Answer):
    """A mapping that gave it, or could have, and who made that mapping."""

    id: str
    topic: str
    format: str
    selector: str
    source: str


class OriginTold(Answer):
    """Where an observation came from; null is what is not known any more, or may not be told."""

    iri: str
    journal: LineTold | None
    template: TemplateTold | None
    message: KeptMessage | None
    mappings: list[MappingTold]
    certain: bool


class StepTold(Answer):
    """A quad of a proof: by which axiom it follows from which others, the numbers of `premises`.

    `quad` is null where it is `hidden`: in a graph that the asker may not read. An asserted one has
    neither axiom nor premises; `source` is who wrote it, as far as that is known.
    """

    quad: str | None
    text: str
    asserted: bool
    hidden: bool
    axiom: str
    premises: list[int]
    source: str


class WhyTold(Answer):
    """Whether it is in the store, and the observations that it came with; `reason` where none.

    What is not stored and follows has a `proof`: its steps, the conclusion first.
    """

    stored: bool
    observations: list[OriginTold]
    reason: str
    proof: list[StepTold] = Field(default_factory=list)
