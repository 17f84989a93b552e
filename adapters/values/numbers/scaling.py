"""`Scaling`: a number of the payload times a factor plus a summand, in exact decimal arithmetic.

Place on the way: `Stream.observe`, before units are converted: what a device counts becomes what it
means, `tenths of a degree` or `pulses of a litre`.
"""

import math
import re
from dataclasses import dataclass
from decimal import Context, Decimal

from adapters.values.fault import Fault, FaultReason
from adapters.values.result import DECIMAL, DOUBLE, INTEGER, MAX_DIGITS, Result

_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,32}(?:\.[0-9]{0,32})?|\.[0-9]{1,32})")
_EXACT = Context(prec=4 * MAX_DIGITS)


@dataclass(frozen=True, slots=True)
class Scaling:
    """`factor` times the number plus `summand`; integers stay integers where both are.

    >>> Scaling.compile("0.1", "").of(Result("215", INTEGER)).lexical
    '21.5'
    >>> Scaling.compile("99", "1").of(Result("1", INTEGER)).lexical
    '100'
    """

    factor: Decimal
    summand: Decimal
    is_whole: bool

    @classmethod
    def compile(cls, scale: str, offset: str) -> "Scaling":
        """Raises ValueError, with the reason, where one is no decimal number or the factor is 0."""
        factor, summand = _number(scale or "1"), _number(offset or "0")
        if not factor:
            raise ValueError("with a scale of 0 every number is the same")
        return cls(factor, summand, not any("." in each for each in (scale, offset)))

    def of(self, number: Result) -> Result | Fault:
        """The result of a numeric `number`; a Fault where it is beyond xsd:double."""
        if number.datatype == DOUBLE:
            value = float(number.lexical) * float(self.factor) + float(self.summand)
            if math.isinf(value):
                return Fault(None, FaultReason.NOT_FINITE, "the scaled number is beyond xsd:double")
            return Result(repr(value), DOUBLE)
        product = _EXACT.multiply(Decimal(number.lexical), self.factor)
        text = format(_EXACT.add(product, self.summand), "f")
        if self.is_whole and number.datatype == INTEGER:
            return Result(text, INTEGER)
        return Result(text if "." in text else f"{text}.0", DECIMAL)


def _number(text: str) -> Decimal:
    if not _DECIMAL.fullmatch(text):
        raise ValueError("is no decimal number such as 0.1, of at most 32 digits")
    return Decimal(text)
