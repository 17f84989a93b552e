"""`Stream`: one mapping on one concrete topic, its IRIs filled in; made once per topic.

Place on the way: the registry binds a `StreamTemplate` when it first sees a topic; adapters turn
results into Observation values with the `Stream`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.iri_template import IriTemplate, fill_name, iri_defect
from adapters.mapping import Mapping, MappingError
from adapters.observation import Observation
from adapters.result import NUMERIC, Result
from adapters.units import unit_iri


@dataclass(frozen=True, slots=True)
class Stream:
    """Whose observations a mapping makes; `order` is the mapping's place among all of them.

    `sensor` and `feature_of_interest` are IRIs, in SenML still with `{name}` where the mapping
    has it.
    """

    order: int
    mapping: str
    sensor: str
    observed_property: str
    feature_of_interest: str
    unit: str | None

    def observe(
        self, result: Result, time: datetime | None = None, sequence: str | None = None
    ) -> Observation:
        """The Observation of `result` in this stream; only a number has the stream's unit."""
        return Observation(
            self.sensor,
            self.observed_property,
            self.feature_of_interest,
            result.lexical,
            result.datatype,
            self.unit if result.datatype in NUMERIC else None,
            time,
            sequence,
        )

    def named(self, name: str, unit: str | None) -> "Stream":
        """The stream of the SenML record `name`, in `unit`."""
        return Stream(
            self.order,
            self.mapping,
            fill_name(self.sensor, name),
            self.observed_property,
            fill_name(self.feature_of_interest, name),
            unit,
        )


@dataclass(frozen=True, slots=True)
class StreamTemplate:
    """What of a mapping does not depend on its format."""

    order: int
    mapping: str
    sensor: IriTemplate
    observed_property: str
    feature_of_interest: IriTemplate
    unit: str | None

    @classmethod
    def compile(cls, order: int, mapping: Mapping, wildcards: int, names: bool) -> "StreamTemplate":
        """Raises MappingError; `wildcards` and `names` say which placeholders exist."""
        _refuse_defect(mapping, "observed_property", iri_defect(mapping.observed_property))
        return cls(
            order,
            mapping.iri,
            _template(mapping, "sensor", mapping.sensor, wildcards, names),
            mapping.observed_property,
            _template(
                mapping, "feature_of_interest", mapping.feature_of_interest, wildcards, names
            ),
            _unit(mapping),
        )

    def bind(self, captures: Sequence[str]) -> Stream:
        """The stream on the topic whose wildcards matched `captures`."""
        return Stream(
            self.order,
            self.mapping,
            self.sensor.fill(captures),
            self.observed_property,
            self.feature_of_interest.fill(captures),
            self.unit,
        )


def _template(mapping: Mapping, member: str, text: str, wildcards: int, names: bool) -> IriTemplate:
    try:
        return IriTemplate.compile(text, wildcards, names)
    except ValueError as error:
        raise MappingError(mapping.iri, member, str(error)) from error


def _unit(mapping: Mapping) -> str | None:
    """An IRI as it is; a symbol of the crosswalk as its QUDT unit."""
    if mapping.unit is None:
        return None
    known = unit_iri(mapping.unit)
    if known is None:
        _refuse_defect(mapping, "unit", iri_defect(mapping.unit))
    return known or mapping.unit


def _refuse_defect(mapping: Mapping, member: str, defect: str) -> None:
    if defect:
        raise MappingError(mapping.iri, member, defect)
