"""Conversion of a result from the unit of a device to that of its mapping, in exact arithmetic.

Place on the way: `Stream.observe`, before the Observation is made. A unit has a dimension, a factor
and an offset: value in the reference unit = (value + offset) * factor, as QUDT's conversion
multiplier and offset. A result whose decimal expansion ends is exact to the last digit, another
has ROUNDED_DIGITS significant digits. Logarithmic units (dB, dBm, pH) convert to nothing else.

Units that share SI dimensions and not a meaning (watts, volt-amperes and vars; hertz, events per
second and turns per minute) do not convert into one another.

Sources: SI brochure 2019; NIST SP 811 appendix B for inch, pound, mmHg; QUDT 3.5 for the names.
"""

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import isinf, lcm

from adapters.values.fault import Fault, FaultReason, excerpt
from adapters.values.result import DECIMAL, DOUBLE, INTEGER, MAX_DIGITS, Result
from adapters.values.units import OWN, UNIT

ROUNDED_DIGITS = 16

_POUND_FORCE = Fraction("4.4482216152605")
_INCH = Fraction("0.0254")
_MMHG = Fraction("133.322387415")

Entry = Fraction | int | str | tuple[Fraction | int | str, str]
"""A factor, or factor and offset."""

_SCALES: dict[str, dict[str, Entry]] = {
    "temperature": {"K": 1, "DEG_C": (1, "273.15"), "DEG_F": (Fraction(5, 9), "459.67")},
    "ratio": {
        "UNITLESS": 1,
        "PERCENT": "0.01",
        "PERCENT_RH": "0.01",
        "PPTH": "0.001",
        "PPM": "0.000001",
        "PPB": "0.000000001",
    },
    "count": {"NUM": 1},
    "pressure": {
        "PA": 1,
        "HectoPA": 100,
        "KiloPA": 1000,
        "MegaPA": 1_000_000,
        "CentiBAR": 1000,
        "MilliBAR": 100,
        "BAR": 100_000,
        "PSI": _POUND_FORCE / _INCH**2,
        "MilliM_HG": _MMHG,
        "IN_HG": _MMHG * Fraction("25.4"),
    },
    "voltage": {"V": 1, "MilliV": "0.001", "MicroV": "0.000001", "KiloV": 1000},
    "current": {"A": 1, "MilliA": "0.001", "MicroA": "0.000001"},
    "dose rate": {"SV-PER-HR": 1, "MicroSV-PER-HR": "0.000001"},
    "power": {
        "W": 1,
        "MilliW": "0.001",
        "KiloW": 1000,
        "MegaW": 1_000_000,
        "BTU_IT-PER-HR": Fraction("1055.05585262") / 3600,
    },
    "apparent power": {"VA": 1, "KiloVA": 1000},
    "reactive power": {"VAR": 1, "KiloVAR": 1000},
    "reactive energy": {"VAR-HR": 1, "KiloVAR-HR": 1000},
    "apparent energy": {"VA-HR": 1, "KiloVA-HR": 1000},
    "energy": {
        "J": 1,
        "KiloJ": 1000,
        "MegaJ": 1_000_000,
        "GigaJ": 1_000_000_000,
        "W-SEC": 1,
        "W-HR": 3600,
        "KiloW-HR": 3_600_000,
        "MegaW-HR": 3_600_000_000,
        "GigaW-HR": 3_600_000_000_000,
        "BTU_IT": "1055.05585262",
        "KiloCAL": 4184,
    },
    "charge": {"C": 1, "A-HR": 3600, "MilliA-HR": "3.6"},
    "resistance": {"OHM": 1, "KiloOHM": 1000, "MegaOHM": 1_000_000},
    "conductivity": {
        "S-PER-M": 1,
        "MicroS-PER-CentiM": "0.0001",
        "DeciS-PER-M": "0.1",
        "MilliS-PER-CentiM": "0.1",
    },
    "frequency": {"HZ": 1, "KiloHZ": 1000, "MegaHZ": 1_000_000, "GigaHZ": 1_000_000_000},
    "rate of events": {"PER-SEC": 1, "PER-MIN": Fraction(1, 60), "PER-HR": Fraction(1, 3600)},
    "heart rate": {"BEAT-PER-MIN": 1},
    "rotation": {"REV-PER-MIN": 1, "REV-PER-SEC": 60},
    "time": {
        "SEC": 1,
        "MilliSEC": "0.001",
        "MicroSEC": "0.000001",
        "MIN": 60,
        "HR": 3600,
        "DAY": 86_400,
    },
    "length": {
        "M": 1,
        "KiloM": 1000,
        "CentiM": "0.01",
        "MilliM": "0.001",
        "MicroM": "0.000001",
        "IN": _INCH,
        "FT": 12 * _INCH,
        "YD": 36 * _INCH,
        "MI": 63_360 * _INCH,
    },
    "area": {"M2": 1, "CentiM2": "0.0001"},
    "volume": {
        "M3": 1,
        "L": "0.001",
        "MilliL": "0.000001",
        "GAL_US": 231 * _INCH**3,
        "FT3": (12 * _INCH) ** 3,
    },
    "angle": {"DEG": 1},
    "plane angle in radians": {"RAD": 1},
    "speed": {
        "M-PER-SEC": 1,
        "KiloM-PER-HR": Fraction(5, 18),
        "M-PER-HR": Fraction(1, 3600),
        "MI-PER-HR": 63_360 * _INCH / 3600,
        "FT-PER-SEC": 12 * _INCH,
        "KN": Fraction(1852, 3600),
        "MilliM-PER-SEC": "0.001",
        "MilliM-PER-HR": Fraction(1, 3_600_000),
        "MilliM-PER-DAY": Fraction(1, 86_400_000),
    },
    "acceleration": {"M-PER-SEC2": 1, "G": "9.80665", "MilliG": "0.00980665"},
    "volume flow": {
        "M3-PER-SEC": 1,
        "M3-PER-HR": Fraction(1, 3600),
        "L-PER-SEC": "0.001",
        "L-PER-MIN": Fraction(1, 60_000),
        "L-PER-HR": Fraction(1, 3_600_000),
        "M3-PER-MIN": Fraction(1, 60),
        "FT3-PER-MIN": (12 * _INCH) ** 3 / 60,
        "GAL_US-PER-MIN": 231 * _INCH**3 / 60,
    },
    "mass": {
        "KiloGM": 1,
        "GM": "0.001",
        "MilliGM": "0.000001",
        "MicroGM": "0.000000001",
        "LB": "0.45359237",
        "OZ": Fraction("0.45359237") / 16,
    },
    "mass concentration": {
        "KiloGM-PER-M3": 1,
        "GM-PER-M3": "0.001",
        "MilliGM-PER-L": "0.001",
        "MilliGM-PER-M3": "0.000001",
        "MicroGM-PER-M3": "0.000000001",
    },
    "data": {
        "BIT": 1,
        "BYTE": 8,
        "KiloBYTE": 8000,
        "KibiBYTE": 8192,
        "MegaBYTE": 8_000_000,
        "GigaBYTE": 8_000_000_000,
        "TeraBYTE": 8_000_000_000_000,
        "MebiBYTE": 8 * 2**20,
        "GibiBYTE": 8 * 2**30,
        "TebiBYTE": 8 * 2**40,
        "KiloBIT": 1000,
        "MegaBIT": 1_000_000,
        "GigaBIT": 1_000_000_000,
    },
    "data rate": {
        "BIT-PER-SEC": 1,
        "KiloBIT-PER-SEC": 1000,
        "MegaBIT-PER-SEC": 1_000_000,
        "GigaBIT-PER-SEC": 1_000_000_000,
        "KiloBYTE-PER-SEC": 8000,
        "MegaBYTE-PER-SEC": 8_000_000,
    },
    "irradiance": {"W-PER-M2": 1},
    "illuminance": {"LUX": 1},
}


_NOT_IN_QUDT: dict[str, tuple[str, Entry, str]] = {
    "WattMinute": ("energy", 60, "W-HR"),
    "MilliwattHour": ("energy", "3.6", "W-HR"),
    "InchPerHour": ("speed", _INCH / 3600, "MilliM-PER-HR"),
    "YardPerSecond": ("speed", 36 * _INCH, "M-PER-SEC"),
}
"""Units that only devices use: dimension, scale, and the QUDT unit of their observations."""


def _scale(entry: Entry) -> tuple[Fraction, Fraction]:
    factor, offset = entry if isinstance(entry, tuple) else (entry, "0")
    return Fraction(factor), Fraction(offset)


_DIMENSIONS = {
    UNIT + name: (dimension, *_scale(entry))
    for dimension, scales in _SCALES.items()
    for name, entry in scales.items()
}

_DIMENSIONS |= {
    OWN + name: (dimension, *_scale(entry)) for name, (dimension, entry, _) in _NOT_IN_QUDT.items()
}

INSTEAD = {OWN + name: UNIT + instead for name, (_, _, instead) in _NOT_IN_QUDT.items()}
"""The unit of observations where a device's own unit is none of QUDT's."""

_EXACT = Context(prec=4 * MAX_DIGITS)
_ROUNDED = Context(prec=ROUNDED_DIGITS)


def dimension(unit: str) -> str | None:
    """What the QUDT unit measures, in words; None for a unit that converts to nothing else.

    >>> dimension(UNIT + "MilliM_HG")
    'pressure'
    """
    known = _DIMENSIONS.get(unit)
    return None if known is None else known[0]


def scales() -> dict[str, tuple[str, Fraction, Fraction]]:
    """Dimension, factor and offset of each QUDT unit that converts: (value + offset) * factor.

    >>> scales()[UNIT + "KiloW"]
    ('power', Fraction(1000, 1), Fraction(0, 1))
    """
    return {unit: scale for unit, scale in _DIMENSIONS.items() if unit.startswith(UNIT)}


def convert(number: Result, unit: str, wanted: str) -> Result | Fault:
    """The number in `unit` as one in `wanted` (QUDT unit IRIs); a Fault where that means nothing.

    >>> convert(Result("68.0", DECIMAL), UNIT + "DEG_F", UNIT + "DEG_C")
    Result(lexical='20.0', datatype='http://www.w3.org/2001/XMLSchema#decimal')
    """
    if unit == wanted:
        return number
    line = _line(unit, wanted)
    if line is None:
        return _mismatch(unit, wanted)
    if number.datatype == DOUBLE:
        return _double(line.at_float(float(number.lexical)))
    value = line.at(Decimal(number.lexical))
    is_integer = number.datatype == INTEGER and value == value.to_integral_value()
    return Result(format(value, "f"), INTEGER) if is_integer else _decimal(value)


@dataclass(frozen=True, slots=True)
class _Line:
    """(slope * x + shift) / divisor, all integers; `division` says to how many digits."""

    slope: Decimal
    shift: Decimal
    divisor: Decimal
    division: Context

    def at(self, number: Decimal) -> Decimal:
        product = _EXACT.add(_EXACT.multiply(number, self.slope), self.shift)
        return self.division.divide(product, self.divisor)

    def at_float(self, number: float) -> float:
        return (number * float(self.slope) + float(self.shift)) / float(self.divisor)


@lru_cache(maxsize=1024)
def _line(unit: str, wanted: str) -> _Line | None:
    have, want = _DIMENSIONS.get(unit), _DIMENSIONS.get(wanted)
    if have is None or want is None or have[0] != want[0]:
        return None
    slope = have[1] / want[1]
    shift = have[2] * slope - want[2]
    divisor = lcm(slope.denominator, shift.denominator)
    division = _EXACT if _divides_a_power_of_ten(divisor) else _ROUNDED
    return _Line(
        Decimal(int(slope * divisor)), Decimal(int(shift * divisor)), Decimal(divisor), division
    )


def _divides_a_power_of_ten(number: int) -> bool:
    for prime in (2, 5):
        while number % prime == 0:
            number //= prime
    return number == 1


def _decimal(value: Decimal) -> Result:
    text = format(value, "f")
    return Result(text if "." in text else text + ".0", DECIMAL)


def _double(value: float) -> Result | Fault:
    if isinf(value):
        return Fault(None, FaultReason.NOT_FINITE, "the converted number is beyond xsd:double")
    return Result(repr(value), DOUBLE)


def _mismatch(unit: str, wanted: str) -> Fault:
    have, want = unit.removeprefix(UNIT), wanted.removeprefix(UNIT)
    detail = f"{excerpt(have)} does not convert to {excerpt(want)}"
    return Fault(None, FaultReason.UNIT_MISMATCH, detail)
