"""The unit crosswalk: what devices, SenML, UCUM and Home Assistant call a unit, as QUDT IRIs.

Case matters (S is siemens, s second; Mg is no mg). Both micro signs, superscripts and compat
characters (℃) fold to one form by NFKC; products may be written the UCUM way (`ug.m-3`) or with a
slash (`ug/m3`). Where two vocabularies disagree SenML wins: `g` is the gram, `C` the coulomb, `B`
the byte, `/` a ratio. Standard gravity is `[g]` or `gn`. QUDT IRIs pass, deprecated names of QUDT
become those that replaced them. The few units of devices that QUDT lacks have IRIs of our own,
which no observation gets.

Sources: QUDT 3.5 unit vocabulary, RFC 8428 section 12.1, RFC 8798, UCUM.
"""

import re
import unicodedata
from difflib import get_close_matches
from functools import cache
from pathlib import Path

import ontologies

UNIT = "http://qudt.org/vocab/unit/"
OWN = "https://sosa-gateway.example/ns#"
MAX_CHARS = 32

# QUDT local name -> spellings; products in UCUM's form (_ucum makes it of the others).
SPELLINGS = {
    # temperature, ratios, counts
    "DEG_C": "Cel °C degC",
    "DEG_F": "[degF] °F degF",
    "K": "K",
    "PERCENT": "% %EL /100",
    "PERCENT_RH": "%RH",
    "PPTH": "‰ [ppth] /1000",
    "PPM": "[ppm] ppm",
    "PPB": "[ppb] ppb",
    "UNITLESS": "/ 1",
    "NUM": "count {#} #",
    "PH": "pH [pH]",
    # pressure
    "PA": "Pa",
    "HectoPA": "hPa",
    "KiloPA": "kPa",
    "MilliBAR": "mbar",
    "BAR": "bar",
    "PSI": "psi [psi]",
    "MilliM_HG": "mmHg mm[Hg]",
    "IN_HG": "inHg [in_i'Hg]",
    "MegaPA": "MPa",
    "CentiBAR": "cbar",
    # electricity
    "V": "V",
    "MilliV": "mV",
    "MicroV": "uV",
    "KiloV": "kV",
    "A": "A",
    "MilliA": "mA",
    "MicroA": "uA",
    "W": "W",
    "MilliW": "mW",
    "KiloW": "kW",
    "MegaW": "MW",
    "VA": "VA",
    "KiloVA": "kVA",
    "VA-HR": "VAh VA.h",
    "KiloVA-HR": "kVAh kVA.h",
    "VAR-HR": "varh var.h",
    "VAR": "var",
    "KiloVAR": "kvar",
    "KiloVAR-HR": "kvarh kvar.h",
    "W-HR": "Wh W.h",
    "KiloW-HR": "kWh kW.h",
    "MegaW-HR": "MWh MW.h",
    "GigaW-HR": "GWh GW.h",
    "W-SEC": "Ws W.s",
    "BTU_IT": "BTU [Btu_IT]",
    "BTU_IT-PER-HR": "BTU.h-1",
    "KiloCAL": "kcal",
    "A-HR": "Ah A.h",
    "MilliA-HR": "mAh mA.h",
    "C": "C",
    "OHM": "Ohm Ω",
    "KiloOHM": "kOhm kΩ",
    "MegaOHM": "MOhm MΩ",
    "FARAD": "F",
    "H": "H",
    "S": "S",
    "S-PER-M": "S.m-1",
    "MicroS-PER-CentiM": "uS.cm-1",
    "DeciS-PER-M": "dS.m-1",
    "MilliS-PER-CentiM": "mS.cm-1",
    "T": "T",
    "WB": "Wb",
    # light, sound, radio, radiation
    "LUX": "lx",
    "LM": "lm",
    "CD": "cd",
    "CD-PER-M2": "cd.m-2",
    "W-PER-M2": "W.m-2",
    "DeciB": "dB",
    "DeciB_M": "dBm",
    "DeciB_A": "dBA dB(A)",
    "BQ": "Bq",
    "GRAY": "Gy",
    "SV": "Sv",
    "MicroSV-PER-HR": "uSv.h-1",
    "BQ-PER-M3": "Bq.m-3",
    # time and frequency
    "HZ": "Hz",
    "KiloHZ": "kHz",
    "MegaHZ": "MHz",
    "GigaHZ": "GHz",
    "SEC": "s",
    "MilliSEC": "ms",
    "MicroSEC": "us",
    "MIN": "min",
    "HR": "h",
    "DAY": "d",
    "PER-CentiM3": "1.cm-3 #.cm-3",
    "PER-SEC": "1.s-1 s-1",
    "PER-MIN": "1.min-1 min-1",
    "BEAT-PER-MIN": "beat.min-1 bpm",
    "REV-PER-MIN": "rpm {#}.min-1",
    # length, area, volume, angle
    "M": "m",
    "KiloM": "km",
    "CentiM": "cm",
    "MilliM": "mm",
    "MicroM": "um",
    "MI": "mi [mi_i]",
    "YD": "yd [yd_i]",
    "IN": "in [in_i]",
    "FT": "ft [ft_i]",
    "M2": "m2",
    "CentiM2": "cm2",
    "M3": "m3",
    "L": "l L",
    "MilliL": "ml mL",
    "GAL_US": "gal [gal_us]",
    "FT3": "ft3 [ft_i]3",
    "DEG": "deg ° lat lon",
    "RAD": "rad",
    "SR": "sr",
    # motion and flow
    "M-PER-SEC": "m.s-1",
    "KiloM-PER-HR": "km.h-1",
    "M-PER-HR": "m.h-1",
    "MI-PER-HR": "mph [mi_i].h-1 mi.h-1",
    "FT-PER-SEC": "ft.s-1 [ft_i].s-1",
    "KN": "kn [kn_i]",
    "M-PER-SEC2": "m.s-2",
    "G": "[g] gn",
    "MilliG": "m[g] mgn",
    "MilliM-PER-SEC": "mm.s-1",
    "MilliM-PER-HR": "mm.h-1",
    "MilliM-PER-DAY": "mm.d-1",
    "M3-PER-SEC": "m3.s-1",
    "M3-PER-HR": "m3.h-1",
    "M3-PER-MIN": "m3.min-1",
    "FT3-PER-MIN": "ft3.min-1 cfm",
    "GAL_US-PER-MIN": "gal.min-1 [gal_us].min-1",
    "L-PER-SEC": "l.s-1 L.s-1",
    "L-PER-MIN": "l.min-1 L.min-1",
    "L-PER-HR": "l.h-1 L.h-1",
    # mass, matter, force, energy
    "KiloGM": "kg",
    "GM": "g",
    "MilliGM": "mg",
    "MicroGM": "ug",
    "LB": "lb [lb_av]",
    "OZ": "oz [oz_av]",
    "GM-PER-M3": "g.m-3",
    "MOL": "mol",
    "KiloGM-PER-M3": "kg.m-3",
    "MilliGM-PER-L": "mg.l-1 mg.L-1",
    "MilliGM-PER-M3": "mg.m-3",
    "MicroGM-PER-M3": "ug.m-3",
    "N": "N",
    "J": "J",
    "KiloJ": "kJ",
    "MegaJ": "MJ",
    "GigaJ": "GJ",
    "KAT": "kat",
    # data
    "BIT": "bit",
    "BIT-PER-SEC": "bit.s-1",
    "KiloBIT-PER-SEC": "kbit.s-1",
    "MegaBIT-PER-SEC": "Mbit.s-1",
    "REV-PER-SEC": "rps",
    "BYTE": "B",
    "KiloBYTE": "kB",
    "KibiBYTE": "KiB",
    "MegaBYTE": "MB",
    "GigaBYTE": "GB",
    "TeraBYTE": "TB",
    "MebiBYTE": "MiB",
    "GibiBYTE": "GiB",
    "TebiBYTE": "TiB",
    "KiloBIT": "kbit",
    "MegaBIT": "Mbit",
    "GigaBIT": "Gbit",
    "GigaBIT-PER-SEC": "Gbit.s-1",
    "KiloBYTE-PER-SEC": "kB.s-1",
    "MegaBYTE-PER-SEC": "MB.s-1",
}

_OF_DEVICES = {
    "WattMinute": "Wmin W.min",
    "MilliwattHour": "mWh mW.h",
    "InchPerHour": "in.h-1",
    "YardPerSecond": "yd.s-1",
}
"""Units that QUDT does not have; observations have another one (conversion.INSTEAD)."""

_RENAMED = {
    "V-A": "VA",
    "KiloV-A": "KiloVA",
    "V-A-HR": "VA-HR",
    "KiloV-A-HR": "KiloVA-HR",
    "V-A_Reactive": "VAR",
    "KiloV-A_Reactive": "KiloVAR",
    "V-A_Reactive-HR": "VAR-HR",
    "KiloV-A_Reactive-HR": "KiloVAR-HR",
    "DegreeCelsius": "DEG_C",
    "DegreeFahrenheit": "DEG_F",
    "Kelvin": "K",
    "Percent": "PERCENT",
    "Volt": "V",
    "Ampere": "A",
    "Watt": "W",
    "Lux": "LUX",
    "Pascal": "PA",
}
"""Names of units that QUDT deprecates or has dropped, which are still pasted."""

_WORDS = {
    "DEG_C": "celsius degc oc c°",
    "DEG_F": "fahrenheit degf of",
    "K": "kelvin",
    "PERCENT": "percent",
    "SEC": "sec sec. second seconds",
    "MIN": "min. minute minutes",
    "HR": "hr hrs hour hours",
    "DAY": "day days",
    "M": "meter meters metre metres",
    "L": "liter liters litre litres",
    "V": "volt volts",
    "A": "amp amps ampere amperes",
    "W": "watt watts",
    "PA": "pascal pascals",
    "HZ": "hertz",
    "LUX": "lux",
    "VAR-HR": "varh",
    "KiloVAR-HR": "kvarh",
    "VAR": "var",
    "PER-MegaK": "mired mireds",
    "REV-PER-MIN": "rpm",
}
"""Words and careless spellings, in any case of letters; looked at where no symbol is found."""

_NAMESPACES = (UNIT, "http://qudt.org/vocab/unit#", "unit:")

_MICRO = "\u03bc"
"""Greek mu: what NFKC makes of the micro sign U+00B5; UCUM writes u."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FACTOR = re.compile(r"([^0-9]+)([0-9]?)")


def _ucum(text: str) -> str:
    """`text` in the one form that the table has: NFKC, `u` for micro, products not quotients."""
    text = unicodedata.normalize("NFKC", text.strip()).replace(_MICRO, "u")
    numerator, *denominators = text.split("/")
    if not numerator or not all(denominators):
        return text
    factors = (_FACTOR.fullmatch(denominator) for denominator in denominators)
    inverse = [f"{factor[1]}-{factor[2] or 1}" for factor in factors if factor]
    return ".".join((numerator, *inverse)) if len(inverse) == len(denominators) else text


_UNITS = {
    spelling if spelling in {"/", "/100", "/1000"} else _ucum(spelling): namespace + name
    for namespace, table in ((UNIT, SPELLINGS), (OWN, _OF_DEVICES))
    for name, spellings in table.items()
    for spelling in spellings.split()
}


_WORD_UNITS = {word: UNIT + name for name, words in _WORDS.items() for word in words.split()}


def unit_iri(text: str) -> str | None:
    """The QUDT unit that `text` names; None where the crosswalk has none.

    >>> unit_iri("µg/m³") == unit_iri("μg/m3") == unit_iri("ug.m-3")
    True
    """
    known = _UNITS.get(text)
    if known is not None:
        return known
    for namespace in _NAMESPACES:
        if text.startswith(namespace):
            name = text.removeprefix(namespace)
            return UNIT + _RENAMED.get(name, name) if _NAME.fullmatch(name) else None
    if len(text) > MAX_CHARS:
        return None
    ucum = _ucum(text)
    return _UNITS.get(ucum) or _WORD_UNITS.get(ucum.lower())


def unit_symbol(unit: str) -> str:
    """How people write a unit of QUDT; the last part of its IRI where the crosswalk has it not.

    >>> unit_symbol(UNIT + "DEG_C"), unit_symbol(UNIT + "M-PER-SEC"), unit_symbol("urn:my:unit")
    ('°C', 'm.s-1', 'urn:my:unit')
    """
    return symbols().get(unit) or unit.rpartition("/")[2]


@cache
def symbols() -> dict[str, str]:
    """The symbol of each unit of the crosswalk, by its IRI."""
    return {UNIT + name: _symbol(spellings.split()) for name, spellings in SPELLINGS.items()}


def _symbol(spellings: list[str]) -> str:
    """One with a sign of its own, such as °, else one without UCUM's brackets, else the first."""
    signs = [each for each in spellings if not each.isascii()]
    plain = [each for each in spellings if not set(each) & set("[]{}/")]
    return [*signs, *plain, *spellings][0]


def unit_defect(unit: str | None) -> str:
    """Why a unit of QUDT's namespace is none, with the nearest that is; empty where it is one.

    Units of other namespaces are their owners' matter. Source: ontologies/qudt_units.txt.

    >>> unit_defect("http://qudt.org/vocab/unit/DEGC")
    'QUDT has no unit DEGC; did you mean DEG_C?'
    >>> unit_defect("http://qudt.org/vocab/unit/DEG_C"), unit_defect("urn:my:unit")
    ('', '')
    """
    if unit is None or not unit.startswith(UNIT):
        return ""
    name = unit.removeprefix(UNIT)
    known = _qudt_names()
    if name in known or name in _RENAMED:
        return ""
    near = get_close_matches(name, known, n=1)
    return f"QUDT has no unit {name[:MAX_CHARS]}" + (f"; did you mean {near[0]}?" if near else "")


@cache
def _qudt_names() -> frozenset[str]:
    lines = Path(ontologies.__path__[0], "qudt_units.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))
