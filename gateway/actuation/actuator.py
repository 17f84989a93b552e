"""`Actuator`: how a device is told a value, what it may be told, and which readings confirm it.

Place on the way of the data: read from the graph of mappings by `actuators`; asked for the message
of a command, and whether a reading confirms one.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode

from adapters.families import FORMATS
from adapters.values.topic_filter import TopicFilter
from adapters.values.units import unit_iri
from gateway.actuation.rules import fill_payload
from gateway.actuation.values import (
    Reading,
    Words,
    converted,
    is_boolean,
    is_number,
    number_literal,
    number_of,
    says_the_same,
    spelled_range,
)
from gateway.rdf.namespaces import XSD

_PLAIN = "{value}"
_LONGEST_VALUE = 4096
_TRUTHS = frozenset({"true", "false"})
_SWITCHED = _TRUTHS | {"on", "off"}
"""Texts that stand for a truth value whatever the device; `open` may be a word of its own."""

_USUAL = Words()
_QOS = {"": 1, "0": 0, "1": 1, "2": 2}
_BOOLEAN = NamedNode(XSD + "boolean")

Fields = Mapping[str, str]
"""The members of an actuator as texts, empty where it has none; as the query ACTUATORS names them.

>>> Actuator.of("urn:lamp", {"topic": "lamp/set"}, ["ON", "OFF"]).values
('OFF', 'ON')
"""


@dataclass(frozen=True, slots=True)
class Message:
    """A command as it is published."""

    topic: str
    payload: bytes
    qos: int = 1
    retain: bool = False


@dataclass(frozen=True, slots=True)
class Actuator:
    """One property of one feature that can be set.

    `sensor` is whose readings of `observed_property` and `feature` confirm a command, empty for
    anybody's. Numbers are in `unit` and are told in `device_unit` (QUDT IRIs, None for any).
    """

    iri: str
    topic: str
    observed_property: str = ""
    feature: str = ""
    sensor: str = ""
    payload: str = _PLAIN
    family: str = ""
    values: tuple[str, ...] = ()
    minimum: Decimal | None = None
    maximum: Decimal | None = None
    step: Decimal | None = None
    unit: str | None = None
    device_unit: str | None = None
    words: Words = _USUAL
    tolerance: Decimal = Decimal(0)
    time_limit_s: float | None = None
    name: str = ""
    qos: int = 1
    retain: bool = False

    @classmethod
    def of(cls, iri: str, fields: Fields, values: Sequence[str] = ()) -> "Actuator":
        """From its members; raises ValueError with the one that is wrong."""
        numbers = {name: _number(name, fields) for name in ("minimum", "maximum", "step")}
        tolerance, time_limit = (_number(name, fields) for name in ("tolerance", "timeLimit"))
        if tolerance is None:
            tolerance = (numbers["step"] or Decimal(0)) / 2
        actuator = cls(
            iri,
            fields.get("topic", ""),
            fields.get("property", ""),
            fields.get("feature", ""),
            fields.get("sensor", ""),
            fields.get("payload", "") or _PLAIN,
            fields.get("format", ""),
            tuple(sorted(values)),
            **numbers,
            unit=_unit("unit", fields),
            device_unit=_unit("deviceUnit", fields),
            words=Words(fields.get("trueValue", ""), fields.get("falseValue", "")),
            tolerance=tolerance,
            time_limit_s=None if time_limit is None else float(time_limit),
            name=fields.get("name", "") or quote(iri, safe=""),
            qos=_QOS.get(fields.get("qos", ""), -1),
            retain=fields.get("retain", "") in {"true", "1"},
        )
        actuator._require()
        return actuator

    def _require(self) -> None:
        try:
            is_topic = TopicFilter.parse(self.topic).wildcards == 0
        except ValueError:
            is_topic = False
        wrong = {
            f"topic {self.topic!a} is none to publish to": not is_topic,
            f"format {self.family!a} is not known": bool(self.family)
            and self.family not in FORMATS,
            "payload has no {value}": _PLAIN not in self.payload,
            "step is not above 0": self.step is not None and self.step <= 0,
            "tolerance is below 0": self.tolerance < 0,
            "timeLimit is not above 0": self.time_limit_s is not None and self.time_limit_s <= 0,
            "qos is 0, 1 or 2": self.qos < 0,
            f"name {self.name!a} is no topic level": not set("/+#\0").isdisjoint(self.name),
            "deviceUnit does not convert from unit": converted(
                Decimal(0), self.unit, self.device_unit
            )
            is None,
        }
        for reason, is_wrong in wrong.items():
            if is_wrong:
                raise ValueError(reason)
        if self.family:
            is_bounded = bool(self.values) or None not in {self.minimum, self.maximum}
            defect = FORMATS[self.family].command_defect
            if reason := defect(self.topic, self.payload, is_bounded=is_bounded):
                raise ValueError(reason)

    def message(self, value: Literal, now: datetime) -> Message:
        """What the device is told; raises ValueError with why it cannot be told this."""
        payload = fill_payload(self.payload, {"value": self._told(value)})
        if self.family:
            payload = FORMATS[self.family].encode_command(payload.decode(), now)
        return Message(self.topic, payload, self.qos, self.retain)

    def takes(self, value: Literal, now: datetime) -> bool:
        """Whether the device can be told this."""
        try:
            self.message(value, now)
        except ValueError:
            return False
        return True

    def is_confirmed(self, wanted: Literal, seen: Reading) -> bool:
        """Whether a reading of its property and feature has the wanted value."""
        return says_the_same(wanted, self.unit, seen, self.words, self.tolerance)

    def _told(self, value: Literal) -> Literal:
        """The value in the words and units of the device."""
        if len(value.value) > _LONGEST_VALUE:
            raise ValueError(f"a value of {len(value.value)} characters is too long")
        if (word := self._word(value)) is not None:
            return _typed(word, value)
        if self.is_numeric:
            return self._number(value)
        if self.values:
            raise ValueError(f"{_shown(value)} is not one of {', '.join(self.values)}")
        if self.words.true and self.words.false:
            true, false = self.words.true, self.words.false
            raise ValueError(f"{_shown(value)} is neither {true} nor {false}")
        return value

    @property
    def is_numeric(self) -> bool:
        """Whether numbers in a range or with a unit are what it takes."""
        limits = (self.minimum, self.maximum, self.step, self.unit)
        return any(limit is not None for limit in limits)

    def _word(self, value: Literal) -> str | None:
        """The word of the device for a value, None where it has none."""
        text = value.value
        alike = [word for word in self.values if word.casefold() == text.casefold()]
        if alike:
            return text if text in alike else alike[0]
        is_truth = is_boolean(value) or text.lower() in _SWITCHED or self.words != _USUAL
        meaning = self.words.meaning(value) if is_truth else None
        if meaning is None:
            return None
        told = self.words.word(meaning)
        if self.values:
            return self._allowed(told, meaning)
        if told or self.is_numeric or not is_boolean(value):
            return told or None
        return "true" if meaning else "false"

    def _allowed(self, told: str, meaning: bool) -> str | None:
        """The allowed value for a truth value: the device's own word, or one that means it."""
        same = [word for word in self.values if told and word.casefold() == told.casefold()]
        same += [word for word in self.values if self.words.meaning(Literal(word)) is meaning]
        return same[0] if same else None

    @property
    def _range(self) -> str:
        """For people, behind what is wrong."""
        spelled = spelled_range(self.minimum, self.maximum, self.unit or "")
        return f" ({spelled})" if spelled else ""

    def _number(self, value: Literal) -> Literal:
        number = number_of(value)
        if number is None or is_boolean(value):
            words = f" and not one of {', '.join(self.values)}" if self.values else ""
            raise ValueError(f"{_shown(value)} is no number{self._range}{words}")
        if self.minimum is not None and number < self.minimum:
            raise ValueError(f"{_shown(value)} is below the minimum, {self.minimum}{self._range}")
        if self.maximum is not None and number > self.maximum:
            raise ValueError(f"{_shown(value)} is above the maximum, {self.maximum}{self._range}")
        if self.step is not None and (number - (self.minimum or 0)) % self.step:
            steps = f"steps of {self.step}{self._range}"
            raise ValueError(f"{_shown(value)} is not a whole number of {steps}")
        told = converted(number, self.unit, self.device_unit)
        return number_literal(number if told is None else told)


def _typed(word: str, value: Literal) -> Literal:
    """As JSON writes it: true and false bare, a number bare where a number was commanded."""
    if word in _TRUTHS:
        return Literal(word, datatype=_BOOLEAN)
    return value if word == value.value and is_number(value) else Literal(word)


def _shown(value: Literal) -> str:
    return json.dumps(value.value[:60], ensure_ascii=False)


def _number(name: str, fields: Fields) -> Decimal | None:
    text = fields.get(name, "")
    number = number_of(Literal(text)) if text else None
    if text and number is None:
        raise ValueError(f"{name} {text[:40]!a} is no number")
    return number


def _unit(name: str, fields: Fields) -> str | None:
    text = fields.get(name, "")
    if not text:
        return None
    known = unit_iri(text)
    if known is None and ":" not in text:
        raise ValueError(f"{name} {text[:40]!a} is no unit that is known")
    return known or text
