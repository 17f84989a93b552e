"""Adeunis: a frame code, a status byte, then the values of now, big endian, on port 1.

Behind the values of now stand those of earlier samples, whose period another frame tells: they are
passed over, and so are frames of configuration and alarms. Names are those of the vendor's decoder
where it has one for a value; of two sensors or channels each has its own.

Source: codecs and their examples in github.com/TheThingsNetwork/lorawan-devices, vendor/adeunis.
"""

from adapters.lorawan.byte_table import ByteTable, Item, Tagged, fields

_STATUS = "low_battery [] bool@0:1\n"


def _table(name: str, models: str, **frames: str) -> ByteTable:
    """`frames` by code, `x4c`; places are counted behind the code, the status byte is 0."""
    items = {bytes([code]): Item(None) for code in _OF_ITSELF}
    for code, text in frames.items():
        items[bytes.fromhex(code.removeprefix("x"))] = Item(None, fields(_STATUS + text))
    return ByteTable(name, frozenset(models.split()), ((None, Tagged(1, items)),))


_OF_ITSELF = (
    *(0x10, 0x11, 0x12, 0x1F, 0x20, 0x2F, 0x30, 0x33, 0x36, 0x37),
    *(0x47, 0x51, 0x52, 0x58),
)
"""Configuration, keep-alive, acknowledgements, alarms."""

_TEMPERATURES = """
temperature_1 [Cel] i16be@1 /10
temperature_2 [Cel] i16be@3 /10 ?0&0x10=0x10
"""

COMFORT = _table(
    "adeunis-comfort",
    "adeuniscomfort adeuniscomfort2 comfort2",
    x4c="temperature [Cel] i16be@1 /10\nhumidity [%RH] u8@3",
)
COMFORT_CO2 = _table(
    "adeunis-comfort-co2",
    "adeuniscomfortco2 comfortco2",
    x6a="temperature [Cel] i16be@1 /10\nhumidity [%RH] u8@3\nco2 [ppm] u16be@4",
)
TEMP = _table(
    "adeunis-temp", "adeunistemp4 adeunistemp temp4", x57=_TEMPERATURES, x30=_TEMPERATURES
)
MOTION = _table(
    "adeunis-motion",
    "adeunismotion",
    x5c="presence_now [] bool@1\npresence [%] u8@2\nluminosity [%] u8@3",
)
BREATH = _table(
    "adeunis-breath",
    "adeunisbreath",
    x6d="""
        tvoc [ug/m3] u16be@1
        pm10 [ug/m3] u16be@3
        pm25 [ug/m3] u16be@5
        pm1 [ug/m3] u16be@7
        """,
)
DELTA_P = _table("adeunis-deltap", "adeunisdeltap deltap", x53="delta_pressure [Pa] i16be@1")
PULSE = _table(
    "adeunis-pulse",
    "adeunispulse4 adeunispulse",
    x46="counter_a [] u32be@1\ncounter_b [] u32be@5",
    x5a="counter_a [] u32be@1",
    x5b="counter_b [] u32be@1",
)
DRY_CONTACTS = _table(
    "adeunis-drycontacts",
    "adeunisdrycontacts2 drycontacts2",
    x40="""
        counter_a [] u16be@1
        counter_b [] u16be@3
        counter_c [] u16be@5
        counter_d [] u16be@7
        contact_a [] bool@9:0
        contact_b [] bool@9:2
        contact_c [] bool@9:4
        contact_d [] bool@9:6
        """,
)

ADEUNIS = (COMFORT, COMFORT_CO2, TEMP, MOTION, BREATH, DELTA_P, PULSE, DRY_CONTACTS)
