"""`Channel`: a physical quantity that a device measures, as it moves; literals of JSON values.

Place on the way of the data: the very beginning of the fleet.
"""

import json
from dataclasses import dataclass
from random import Random

from gateway.demo.fleet.acts import StreamKey

Value = bool | int | float | str


@dataclass(slots=True)
class Channel:
    """A random walk in steps of 10 ** -places; `reading` numbers what was measured.

    `unit` is the name of the QUDT unit that observations must have, None where there is none.
    """

    key: StreamKey
    unit: str | None
    raw: int
    places: int = 1
    step: int = 3
    low: int = 50
    high: int = 400
    reading: int = 0

    def move(self, dice: Random) -> None:
        """Measure again: another value than before."""
        change = dice.choice((-1, 1)) * dice.randint(1, self.step)
        if not self.low <= self.raw + change <= self.high:
            change = -change
        self.raw += change
        self.reading += 1

    @property
    def value(self) -> float:
        """The value as a number of Python's, an int where there are no places."""
        return self.raw / 10**self.places if self.places else self.raw

    @property
    def text(self) -> str:
        """The value with all its places."""
        return fixed(self.raw, self.places)


def fixed(raw: int, places: int) -> str:
    """`raw` * 10 ** -places with exactly so many places.

    >>> fixed(-205, 2)
    '-2.05'
    """
    sign, digits = "-" if raw < 0 else "", f"{abs(raw):0{places + 1}d}"
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def literal(value: Value) -> tuple[str, str]:
    """Lexical form and XSD datatype of a value that is sent as JSON."""
    if isinstance(value, str):
        return value, "string"
    kind = {bool: "boolean", int: "integer", float: "decimal"}[type(value)]
    return json.dumps(value), kind


def text_literal(text: str) -> tuple[str, str]:
    """The same of a number that is sent as text."""
    return text, "decimal" if "." in text else "integer"
