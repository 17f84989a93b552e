"""Milesight: items behind a channel number and a channel type, little endian, on port 85.

Source: payload definition of the AM100 series (AM104, AM107) in the vendor's user guide.
"""

from adapters.lorawan.byte_table import ByteTable, Item, Tagged, fields


def _item(length: int, text: str = "") -> Item:
    return Item(length, fields(text))


_AM107 = Tagged(
    tag_bytes=2,
    items={
        b"\x01\x75": _item(1, "battery [%] u8@0 !0xff"),
        b"\x03\x67": _item(2, "temperature [Cel] i16le@0 /10 !0x7fff,0x8000"),
        b"\x04\x68": _item(1, "humidity [%RH] u8@0 /2 !0xff"),
        b"\x05\x6a": _item(2, "activity [] u16le@0 !0xffff"),
        b"\x06\x65": _item(
            6,
            """
            illumination [lx] u16le@0 !0xffff
            infrared_and_visible [] u16le@2 !0xffff
            infrared [] u16le@4 !0xffff
            """,
        ),
        b"\x07\x7d": _item(2, "co2 [ppm] u16le@0 !0xffff"),
        b"\x08\x7d": _item(2, "tvoc [ppb] u16le@0 !0xffff"),
        b"\x09\x73": _item(2, "pressure [hPa] u16le@0 /10 !0xffff"),
        # What a device says of itself when it starts: no observations.
        b"\xff\x01": _item(1),
        b"\xff\x08": _item(6),
        b"\xff\x09": _item(2),
        b"\xff\x0a": _item(2),
        b"\xff\x0b": _item(1),
        b"\xff\x0f": _item(1),
        b"\xff\x16": _item(8),
        b"\xff\xfe": _item(1),
        b"\xff\xff": _item(2),
    },
)

AM107 = ByteTable(
    "milesight-am107",
    frozenset({"am107", "am104", "am100"}),
    ((None, _AM107),),
)
