"""Units behind names, `temperature_C` and `total_kwh`: how many firmwares tell them.

Place on the way: `adapters.values.usual_words`, for names that stand whole in no table. A suffix is
only looked for behind a separator, in brackets, or where small letters become capital.
"""

import re
from typing import NamedTuple

from adapters.values.units import unit_iri

_SUFFIXES = """
°C C c degc celsius cel
°F F f degf fahrenheit
K kelvin
% pct percent perc prc
%RH rh
hPa hpa
kPa kpa
Pa pa
mbar mbar
bar bar
psi psi
inHg inhg
mmHg mmhg
W W w watt watts
kW kw
mW mW
MW MW
Wh wh
kWh kwh
MWh MWh
mWh mWh
V V v volt volts
mV mv
kV kv
A A a amp amps ampere
mA ma
Ah ah
mAh mah
VA va
kVA kva
VAh vah
kVAh kvah
var var
kvar kvar
varh varh
kvarh kvarh
Hz hz
kHz khz
MHz mhz
dB db
dBm dbm
lx lx lux
W/m² w_m2 wm2
ppm ppm
ppb ppb
µg/m³ ug_m3 ugm3 ug_per_m3
mg/m³ mg_m3 mgm3
g/m³ g_m3 gm3
µS/cm us_cm uscm
mS/cm ms_cm
m/s m_s ms_1 mps
km/h km_h kmh kph
mph mph mi_h
kn kn kt knots
mm/h mm_h mmh
in/h in_h
mm mm
cm cm
m M m
km km
in in inch inches
m³ m3 cbm
L l liter liters litre litres
mL ml
gal gal gallons
ft³ ft3 cuft
L/min l_min lpm
L/h l_h lph
m³/h m3_h m3h
kg kg
g g
lb lb lbs
s s sec secs seconds
ms ms msec
min min minutes
h h hours
d days
° deg degrees
rpm rpm
J j
kJ kj
MJ MJ
GJ gj
Ohm ohm ohms
kOhm kohm
Bq/m³ bq_m3 bqm3
µSv/h usv_h usvh
"""
"""Symbol of the unit, what stands for it behind a name; what is there in two cases means both."""

_WEAK = "c f k v a w m l h s g d j in min ma mv bar var ms"
"""Suffixes that may be a phase or an index: they count behind what can have such a unit."""

_BRACKETS = re.compile(r"(.+?)[ _]*[(\[]([^()\[\]]{1,16})[)\]]")
_SEPARATORS = re.compile(r"([_\-. /]+)")
_CAPITAL = re.compile(r"(.*[a-z0-9])([A-Z%°][A-Za-z0-9]*|k[A-Z][a-z]*|m[AVW][a-z]?)")
_LONGEST_NAME = 64


class Suffixed(NamedTuple):
    """A name without its unit, the unit's symbol, and whether it can only be a unit."""

    base: str
    symbol: str
    is_certain: bool


def _read() -> dict[str, str]:
    told: dict[str, str] = {}
    for line in _SUFFIXES.strip().splitlines():
        symbol, *names = line.split()
        told |= dict.fromkeys(names, symbol)
    return told


_SYMBOLS = _read()


def suffixed(name: str) -> tuple[Suffixed, ...]:
    """The ways to read a unit behind `name`, the longest suffix first; empty where there is none.

    >>> [(each.base, each.symbol) for each in suffixed("wind_avg_m_s")]
    [('wind_avg', 'm/s'), ('wind_avg_m', 's')]
    >>> suffixed("temperatureC")[0].base, suffixed("Druck [hPa]")[0].symbol, suffixed("basic")
    ('temperature', 'hPa', ())
    """
    if len(name) > _LONGEST_NAME:
        return ()
    bracketed = _BRACKETS.fullmatch(name)
    if bracketed:
        symbol = _SYMBOLS.get(_plain(bracketed[2])) or _symbol(bracketed[2])
        return (Suffixed(bracketed[1], symbol, True),) if symbol else ()
    found = []
    for base, tail in _tails(name):
        known = _SYMBOLS.get(_plain(tail)) or _SYMBOLS.get(_plain(tail).lower())
        if known and not _is_of_two_sizes(tail):
            found.append(Suffixed(base, known, tail.lower() not in _WEAK_SUFFIXES))
    return tuple(found)


def _tails(name: str) -> list[tuple[str, str]]:
    """Base and suffix, behind two separators, one, or none."""
    pieces = _SEPARATORS.split(name)
    tails = [
        ("".join(pieces[:-count]), "".join(pieces[1 - count :]))
        for count in (4, 2)
        if len(pieces) > count
    ]
    capital = _CAPITAL.fullmatch(name)
    if capital:
        tails.append((capital[1], capital[2]))
    return [(base, tail) for base, tail in tails if base.strip("_-. /") and tail]


def _plain(tail: str) -> str:
    return re.sub(r"[\-. /]+", "_", tail)


def _symbol(text: str) -> str:
    return text if unit_iri(text) else ""


def _is_of_two_sizes(tail: str) -> bool:
    """Whether it may be milli and mega: `mw` and `mwh` in small letters."""
    return tail in {"mw", "mwh"}


_WEAK_SUFFIXES = frozenset(_WEAK.split())
