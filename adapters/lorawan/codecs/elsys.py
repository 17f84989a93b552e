"""Elsys: items behind a type byte, big endian; one list of types for all models of the vendor.

Source: the vendor's payload document ("LoRa payload", version 10 and later).
"""

from adapters.lorawan.byte_table import ByteTable, Item, Tagged, fields


def _item(length: int | None, text: str = "") -> Item:
    return Item(length, fields(text))


_TYPES = {
    0x01: _item(2, "temperature [Cel] i16be@0 /10 !0x7fff,0x8000"),
    0x02: _item(1, "humidity [%RH] u8@0 !0xff"),
    0x03: _item(3, "x [] i8@0\ny [] i8@1\nz [] i8@2"),
    0x04: _item(2, "light [lx] u16be@0"),
    0x05: _item(1, "motion [] u8@0"),
    0x06: _item(2, "co2 [ppm] u16be@0 !0xffff"),
    0x07: _item(2, "vdd [mV] u16be@0"),
    0x08: _item(2, "analog1 [mV] u16be@0"),
    0x09: _item(6, "lat [deg] i24be@0 /10000\nlong [deg] i24be@3 /10000"),
    0x0A: _item(2, "pulse1 [] u16be@0"),
    0x0B: _item(4, "pulseAbs [] u32be@0"),
    0x0C: _item(2, "externalTemperature [Cel] i16be@0 /10 !0x7fff,0x8000"),
    0x0D: _item(1, "digital [] u8@0"),
    0x0E: _item(2, "distance [mm] u16be@0 !0xffff"),
    0x0F: _item(1, "accMotion [] u8@0"),
    0x10: _item(
        4, "irInternalTemperature [Cel] i16be@0 /10\nirExternalTemperature [Cel] i16be@2 /10"
    ),
    0x11: _item(1, "occupancy [] u8@0"),
    0x12: _item(1, "waterleak [] u8@0"),
    0x13: _item(65),
    0x14: _item(4, "pressure [hPa] i32be@0 /1000"),
    0x15: _item(2, "soundPeak [dB] u8@0\nsoundAvg [dB] u8@1"),
    0x16: _item(2, "pulse2 [] u16be@0"),
    0x17: _item(4, "pulseAbs2 [] u32be@0"),
    0x18: _item(2, "analog2 [mV] u16be@0"),
    0x19: _item(2, "externalTemperature2 [Cel] i16be@0 /10 !0x7fff,0x8000"),
    0x1A: _item(1, "digital2 [] u8@0"),
    0x1B: _item(4, "analogUv [uV] i32be@0"),
    0x1C: _item(2, "tvoc [ppb] u16be@0"),
    0x1D: _item(1, "iaq [] u8@0"),
    0x1E: _item(1),
    0x1F: _item(1),
    0x20: _item(2),
    0x21: _item(1),
    0x22: _item(2),
    0x23: _item(1),
    0x24: _item(1, "externalHumidity [%RH] u8@0 !0xff"),
    0x3B: Item(None, counted=True),
    0x3C: _item(4),
    0x3D: _item(4),
    0x3E: _item(None),
}

_MODELS = """
elt1 elt2 eltlite eltultrasonic eltco2 ems emsdoor emsdesk emslite ers ersco2 ersco2lite erseye
erslite erssound ersdesk ersvoc ers2 ers2co2 ers2eye ers2sound ers2co2lite ers2lite
"""

ELSYS = ByteTable(
    "elsys",
    frozenset(_MODELS.split()),
    ((None, Tagged(1, {bytes([tag]): item for tag, item in _TYPES.items()})),),
)
