"""`Stream`: one mapping on one concrete topic, its IRIs filled in; made once per topic.

Place on the way: the registry binds a `StreamTemplate` when it first sees a topic; adapters turn
results into Observation values with the `Stream`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from adapters.values.conversion import INSTEAD, convert
from adapters.values.fault import Fault
from adapters.values.iri_template import IriTemplate, fill_members, fill_name, iri_defect
from adapters.values.mapping import Mapping, MappingError, Retained
from adapters.values.numbers.quantity import Quantity, quantity
from adapters.values.numbers.scaling import Scaling
from adapters.values.observation import USUAL, Circumstances, Observation, StreamKey
from adapters.values.result import FALSE, INTEGER, NUMERIC, STRING, TRUE, Result, captured_result
from adapters.values.units import unit_iri

Words = tuple[tuple[Result, Result], ...]
"""What the device's words for true and false read as, each with the truth value it means."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Whose observations a mapping makes; `order` is the mapping's place among all of them.

    `sensor` and `feature_of_interest` are IRIs, still with `{name}` and `{$.id}` where the mapping
    has them.
    """

    order: int
    mapping: str
    sensor: str
    observed_property: str
    feature_of_interest: str
    unit: str | None
    device_unit: str | None = None
    words: Words = ()
    retained: Retained = field(default=Retained.SEED, hash=False)  # slow to hash
    expires_after_s: float | None = None
    sensor_class: str | None = None
    scaling: Scaling | None = None

    @property
    def key(self) -> StreamKey:
        """The identity of the stream, as `Observation.stream` has it."""
        return (self.sensor, self.observed_property, self.feature_of_interest)

    def observe(
        self,
        result: Result,
        time: datetime | None = None,
        sequence: str | None = None,
        told_unit: str | None = None,
        circumstances: Circumstances = USUAL,
    ) -> Observation | Fault:
        """The Observation of `result` in this stream; only a number has a unit.

        A number in `told_unit`, which the payload names, or else in the mapping's device unit, is
        converted to the mapping's unit. A Fault where the dimensions differ. In a stream of
        numbers a text that is a number as people write it is that number.
        """
        unit, datatype = None, result.datatype
        if datatype in NUMERIC and not (told_unit or self.device_unit or self.scaling):
            unit = self.unit  # as most are: there is nothing to convert
        elif datatype in NUMERIC or (datatype == STRING and self.is_of_numbers):
            read = self._read(result, told_unit)
            if isinstance(read, Fault):
                return read
            result, unit = read
        for word, truth in self.words:
            if result == word:
                result, unit = truth, None
                break
        return Observation(
            self.sensor,
            self.observed_property,
            self.feature_of_interest,
            result.lexical,
            result.datatype,
            unit,
            time,
            sequence,
            circumstances,
            self.sensor_class,
        )

    def _read(self, result: Result, told_unit: str | None) -> tuple[Result, str | None] | Fault:
        """A number, or a text that may be one, as the result that is wanted and its unit."""
        if result.datatype == STRING:
            written = quantity(result.lexical, "", self.device_unit or self.unit)
            if not isinstance(written, Quantity):
                return written or (result, None)
            result, told_unit = written.result, written.unit or told_unit
        unit = told_unit or self.device_unit
        wanted = self.unit or INSTEAD.get(unit or "", unit)
        number = result if self.scaling is None else self.scaling.of(result)
        if not isinstance(number, Fault) and unit != wanted and unit and wanted:
            number = convert(number, unit, wanted)
        return number if isinstance(number, Fault) else (number, wanted)

    @property
    def is_of_numbers(self) -> bool:
        """Whether the mapping says that its results are numbers, by a unit or by a scale."""
        return self.unit is not None or self.device_unit is not None or self.scaling is not None

    def with_members(self, values: Sequence[tuple[str, str]]) -> "Stream":
        """The stream with the values of the paths that stand in its IRIs; each path has one."""
        is_short = sum(len(value) for _, value in values) <= _LONGEST_NAME
        filled = _with_members if is_short else _with_members.__wrapped__
        return filled(self, tuple(values))

    def named(self, name: str) -> "Stream":
        """The stream with `name` in the place of `{name}`."""
        named = _named if len(name) <= _LONGEST_NAME else _named.__wrapped__
        return named(self, name)


_LONGEST_NAME = 256
"""A longer one is nobody's name, and is not remembered."""


@lru_cache(maxsize=8192)
def _named(stream: Stream, name: str) -> Stream:
    return replace(
        stream,
        sensor=fill_name(stream.sensor, name),
        feature_of_interest=fill_name(stream.feature_of_interest, name),
    )


@lru_cache(maxsize=8192)
def _with_members(stream: Stream, values: tuple[tuple[str, str], ...]) -> Stream:
    told = dict(values)
    return replace(
        stream,
        sensor=fill_members(stream.sensor, told),
        feature_of_interest=fill_members(stream.feature_of_interest, told),
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
    device_unit: str | None
    words: Words
    retained: Retained
    expires_after_s: float | None
    sensor_class: str | None
    scaling: Scaling | None
    wildcards: int

    @classmethod
    def compile(
        cls, order: int, mapping: Mapping, wildcards: int, names: bool, *, members: bool = False
    ) -> "StreamTemplate":
        """Raises MappingError; `wildcards`, `names`, `members` say which placeholders exist."""
        places = _Places(wildcards, names, members)
        _refuse_defect(mapping, "observed_property", iri_defect(mapping.observed_property))
        if mapping.sensor_class is not None:
            _refuse_defect(mapping, "sensor_class", iri_defect(mapping.sensor_class))
        return cls(
            order,
            mapping.iri,
            _template(mapping, "sensor", places),
            mapping.observed_property,
            _template(mapping, "feature_of_interest", places),
            _declared_unit(mapping),
            _device_unit(mapping),
            _words(mapping),
            _retained(mapping),
            mapping.expires_after_s,
            mapping.sensor_class,
            _scaling(mapping),
            wildcards,
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
            self.device_unit,
            self.words,
            self.retained,
            self.expires_after_s,
            self.sensor_class,
            self.scaling,
        )


class _Places(NamedTuple):
    """Which placeholders an IRI template may have."""

    wildcards: int
    names: bool
    members: bool


def _template(mapping: Mapping, member: str, places: _Places) -> IriTemplate:
    text: str = getattr(mapping, member)
    try:
        return IriTemplate.compile(text, places.wildcards, places.names, members=places.members)
    except ValueError as error:
        raise MappingError(mapping.iri, member, str(error)) from error


def _scaling(mapping: Mapping) -> Scaling | None:
    if not mapping.scale and not mapping.offset:
        return None
    try:
        return Scaling.compile(mapping.scale, mapping.offset)
    except ValueError as error:
        member = "scale" if mapping.scale else "offset"
        raise MappingError(mapping.iri, member, str(error)) from error


def _unit(mapping: Mapping, member: str, text: str | None) -> str | None:
    """An IRI as it is; a symbol of the crosswalk as its QUDT unit."""
    if text is None:
        return None
    known = unit_iri(text)
    if known is None:
        symbol = f"{text[:40]!a} is no unit that is known: name QUDT's IRI, or a symbol such as Cel"
        _refuse_defect(mapping, member, iri_defect(text) if ":" in text else symbol)
    return known or text


def _declared_unit(mapping: Mapping) -> str | None:
    unit = _unit(mapping, "unit", mapping.unit)
    instead = INSTEAD.get(unit or "")
    _refuse_defect(mapping, "unit", f"QUDT has no such unit, declare {instead}" if instead else "")
    return unit


def _device_unit(mapping: Mapping) -> str | None:
    """Also refuses a unit that can never become the mapping's."""
    device_unit = _unit(mapping, "device_unit", mapping.device_unit)
    unit = _unit(mapping, "unit", mapping.unit)
    if device_unit is not None and unit is not None:
        tried = convert(Result("1", INTEGER), device_unit, unit)
        _refuse_defect(mapping, "device_unit", tried.detail if isinstance(tried, Fault) else "")
    return device_unit


def _words(mapping: Mapping) -> Words:
    meant = ((mapping.true_value, TRUE), (mapping.false_value, FALSE))
    words = []
    for member, (text, truth) in zip(("true_value", "false_value"), meant, strict=True):
        result = captured_result(text) if text else None
        if isinstance(result, Fault):
            raise MappingError(mapping.iri, member, result.detail)
        if result is not None:
            words.append((result, truth))
    if len(words) == 2 and words[0][0] == words[1][0]:
        raise MappingError(mapping.iri, "false_value", "means the same as true_value")
    return tuple(words + _as_texts(mapping))


def _as_texts(mapping: Mapping) -> list[tuple[Result, Result]]:
    """The words of formats that take `on` or `1` for a text."""
    meant = ((mapping.true_value, TRUE), (mapping.false_value, FALSE))
    return [(Result(text, STRING), truth) for text, truth in meant if text]


def _retained(mapping: Mapping) -> Retained:
    try:
        return Retained(mapping.retained)
    except ValueError as error:
        known = ", ".join(each.value for each in Retained)
        raise MappingError(mapping.iri, "retained", f"is none of {known}") from error


def _refuse_defect(mapping: Mapping, member: str, defect: str) -> None:
    if defect:
        raise MappingError(mapping.iri, member, defect)
