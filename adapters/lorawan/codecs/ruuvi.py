"""Ruuvi: what the advertisements of its tags and air monitors say, big endian, by data format.

Formats 3 (RAWv1) and 5 (RAWv2) are a RuuviTag's, 6 and E1 a Ruuvi Air's. Least and greatest values
are valid, the one beyond says "not available"; format 3 has no such value. Some values of 6 and E1
have nine bits, the lowest of them among the flags.

Sources: Ruuvi's documentation, "Data format 3", "5 (RAWv2)", "6" and "E1"; the levels of sound,
which stand there as reserved, in the tests of ruuvi/ruuvi.gateway_esp.c, test_mqtt_json.cpp.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from adapters.lorawan.byte_table import Fixed, Found, fields
from adapters.values.fault import Fault, FaultReason
from adapters.values.result import DECIMAL, INTEGER, Result

_TAG = """
temperature [Cel] i16be@1 *0.005 !0x8000
humidity [%RH] u16be@3 *0.0025 !0xffff
pressure [Pa] u16be@5 +50000 !0xffff
"""

_FORMATS = {
    3: """
        humidity [%RH] u8@1 *0.5
        pressure [Pa] u16be@4 +50000
        acceleration_x [gn] i16be@6 *0.001
        acceleration_y [gn] i16be@8 *0.001
        acceleration_z [gn] i16be@10 *0.001
        voltage [V] u16be@12 *0.001
        """,
    5: _TAG
    + """
        acceleration_x [gn] i16be@7 *0.001 !0x8000
        acceleration_y [gn] i16be@9 *0.001 !0x8000
        acceleration_z [gn] i16be@11 *0.001 !0x8000
        voltage [V] u16be@13:5+11 *0.001 +1.6 !2047
        tx_power [dBm] u16be@13:0+5 *2 -40 !31
        movement_counter [] u8@15 !255
        sequence [] u16be@16 !65535
        mac [] hex6@18
        """,
    6: _TAG
    + """
        pm25 [ug/m3] u16be@7 *0.1 !0xffff
        co2 [ppm] u16be@9 !0xffff
        calibrating [] bool@16:0
        sequence [] u8@15
        mac [] hex3@17
        """,
    0xE1: _TAG
    + """
        pm1 [ug/m3] u16be@7 *0.1 !0xffff
        pm25 [ug/m3] u16be@9 *0.1 !0xffff
        pm4 [ug/m3] u16be@11 *0.1 !0xffff
        pm10 [ug/m3] u16be@13 *0.1 !0xffff
        co2 [ppm] u16be@15 !0xffff
        luminosity [lx] u24be@19 *0.01 !0xffffff
        calibrating [] bool@28:0
        sequence [] u24be@25 !0xffffff
        mac [] hex6@34
        """,
}
_FIELDS = {number: Fixed(fields(text)) for number, text in _FORMATS.items()}

RUUVI_AIR = 6
RUUVI_AIR_EXTENDED = 0xE1


@dataclass(frozen=True, slots=True)
class _NineBits:
    """Byte `at`, and bit `bit` of the flags below it."""

    name: str
    unit: str
    at: int
    bit: int

    def read(self, data: bytes, flags: int) -> Result | Fault:
        """An index as it is, a level of sound in steps of 0.2 dB from 18 dB."""
        if len(data) <= max(self.at, flags):
            return Fault(None, FaultReason.MALFORMED, f"there are {len(data)} bytes")
        raw = data[self.at] << 1 | data[flags] >> self.bit & 1
        if raw == _NO_NUMBER or (self.unit and data[self.at] == _RESERVED):
            return Fault(None, FaultReason.SENTINEL, f"{raw} stands for not available")
        if not self.unit:
            return Result(str(raw), INTEGER)
        return Result(str(_SOUND_STEP * raw + _LEAST_SOUND), DECIMAL)


_NO_NUMBER, _RESERVED = 511, 255
_SOUND_STEP, _LEAST_SOUND = Decimal("0.2"), 18

_NINE_BITS = {
    RUUVI_AIR: (
        16,
        (
            _NineBits("voc", "", 11, 6),
            _NineBits("nox", "", 12, 7),
            _NineBits("sound_average", "dB", 14, 4),
        ),
    ),
    RUUVI_AIR_EXTENDED: (
        28,
        (
            _NineBits("voc", "", 17, 6),
            _NineBits("nox", "", 18, 7),
            _NineBits("sound_instant", "dB", 22, 3),
            _NineBits("sound_average", "dB", 23, 4),
            _NineBits("sound_peak", "dB", 24, 5),
        ),
    ),
}


def ruuvi_values(data: bytes) -> dict[str, Found] | None:
    """The values by name, of what stands behind Ruuvi's company number; None for other formats.

    >>> ruuvi_values(bytes.fromhex("03291A1ECE1EFC18F94202CA0B53"))["temperature"].result.lexical
    '26.30'
    """
    layout = _FIELDS.get(data[0]) if data else None
    if layout is None:
        return None
    found = layout.read(data).found
    for name, unit, read in _PARTICULAR.get(data[0], ()):
        found[name] = Found(read(data), unit)
    flags, every = _NINE_BITS.get(data[0], (0, ()))
    for each in every:
        found[each.name] = Found(each.read(data, flags), each.unit)
    return found


def _sign_and_hundredths(data: bytes) -> Result | Fault:
    """A sign, seven bits of degrees, and a byte of hundredths."""
    if len(data) < 4 or data[3] > 99:
        return Fault(None, FaultReason.MALFORMED, "the temperature has no hundredths from 0 to 99")
    sign = "-" if data[2] & 0x80 and (data[2] & 0x7F or data[3]) else ""
    return Result(f"{sign}{data[2] & 0x7F}.{data[3]:02}", DECIMAL)


def _logarithmic(data: bytes) -> Result | Fault:
    """A code from 0 to 254 for 0 to 65535 lx, to two decimals."""
    if len(data) < 14:
        return Fault(None, FaultReason.MALFORMED, f"there are {len(data)} bytes")
    if data[13] == _RESERVED:
        return Fault(None, FaultReason.SENTINEL, "255 stands for not available")
    return Result(_LUX[data[13]], DECIMAL)


_LUX = [f"{math.expm1(code * math.log(65536) / 254):.2f}" for code in range(255)]

_Particular = tuple[str, str, Callable[[bytes], Result | Fault]]
_PARTICULAR: dict[int, tuple[_Particular, ...]] = {
    3: (("temperature", "Cel", _sign_and_hundredths),),
    RUUVI_AIR: (("luminosity", "lx", _logarithmic),),
}


def _units() -> dict[str, str]:
    told = {each.name: each.unit for layout in _FIELDS.values() for each in layout.fields}
    told |= {name: unit for every in _PARTICULAR.values() for name, unit, _ in every}
    return told | {each.name: each.unit for _, every in _NINE_BITS.values() for each in every}


UNITS = _units()
"""The symbol of the unit of each value, empty where it has none."""
