"""`Form`: what a value of a stream, or of a row, is in Home Assistant, as text.

Place: a part of an entity; asked for each state that is told. What Home Assistant would refuse (a
number beyond the range, a word that is no option, an infinite one) is unknown there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, unique
from math import isfinite

from pyoxigraph import Literal

from gateway.actuation.values import Words, converted, is_boolean, number_of
from gateway.ingest.sosa import WKT
from gateway.rdf.namespaces import XSD

LONGEST_STATE = 255
"""Characters that Home Assistant takes in a state."""

_NUMBERS = frozenset(XSD + name for name in ("integer", "decimal", "double", "float"))
_USUAL = Words()
_TIMES = frozenset({XSD + "dateTime", XSD + "dateTimeStamp"})


@unique
class Kind(Enum):
    """What values are there."""

    NUMBER = "number"
    TRUTH = "truth"
    TIME = "time"
    PLACE = "place"
    WORD = "word"


def kind_of(value: Literal) -> Kind:
    """By the datatype.

    >>> kind_of(Literal(True)), kind_of(Literal("on"))
    (<Kind.TRUTH: 'truth'>, <Kind.WORD: 'word'>)
    """
    datatype = value.datatype.value
    if datatype in _NUMBERS:
        return Kind.NUMBER
    if is_boolean(value):
        return Kind.TRUTH
    if datatype in _TIMES:
        return Kind.TIME
    return Kind.PLACE if datatype == WKT else Kind.WORD


@dataclass(frozen=True, slots=True)
class Form:
    """How values are told.

    Where `is_read` they are those of a stream, of this kind and `unit` and of no other; an
    actuator's may come in other units and words. `is_inverted`: true is off. `least` and `most`
    bound numbers, `options` the words.
    """

    kind: Kind
    unit: str | None = None
    is_read: bool = True
    is_inverted: bool = False
    words: Words = _USUAL
    options: tuple[str, ...] = ()
    least: Decimal | None = None
    most: Decimal | None = None

    def fits(self, value: Literal, unit: str | None) -> bool:
        """Whether it is still what was announced: a stream may change its unit, or its kind."""
        return not self.is_read or (kind_of(value) is self.kind and unit == self.unit)

    def tell(self, value: Literal, unit: str | None) -> str | None:
        """The state; None: it is unknown.

        >>> Form(Kind.TRUTH, is_inverted=True).tell(Literal(True), None)
        'OFF'
        """
        return _TELLING[self.kind](self, value, unit)

    def truth(self, value: Literal) -> str | None:
        """ON or OFF."""
        meaning = self.words.meaning(value)
        if meaning is None:
            return None
        return "ON" if meaning is not self.is_inverted else "OFF"

    def number(self, value: Literal, unit: str | None) -> str | None:
        """As it was told where it is in the unit already."""
        if self.is_read:
            return value.value if _is_finite(value.value) else None
        number = number_of(value)
        if number is None:
            return None
        told = converted(number, unit, self.unit)
        if told is None or not self._is_within(told):
            return None
        return value.value.strip() if told == number else format(told, "f")

    def _is_within(self, number: Decimal) -> bool:
        is_low = self.least is not None and number < self.least
        is_high = self.most is not None and number > self.most
        return not is_low and not is_high

    def word(self, value: Literal) -> str | None:
        """As it is, or as the option that it is."""
        if not self.options:
            return value.value[:LONGEST_STATE]
        text = value.value.casefold()
        found = (each for each in self.options if each.casefold() == text)
        return next(found, None)


def _is_finite(lexical: str) -> bool:
    try:
        return isfinite(float(lexical))
    except ValueError:
        return False


_TELLING: Mapping[Kind, Callable[[Form, Literal, str | None], str | None]] = {
    Kind.NUMBER: Form.number,
    Kind.TRUTH: lambda form, value, _: form.truth(value),
    Kind.TIME: lambda _form, value, _unit: value.value,
    Kind.PLACE: lambda form, value, _: form.word(value),
    Kind.WORD: lambda form, value, _: form.word(value),
}
