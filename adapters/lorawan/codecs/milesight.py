"""Milesight: items behind a channel number and a channel type, little endian, on port 85.

What a channel is differs between series, so each series has a table. Records that a device had kept
(0x20ce, 0x21ce) are skipped: their times would be the network's.

Sources: payload definition of the AM100 series (AM104, AM107) in the vendor's user guide; README of
each model in the vendor's repository of decoders, github.com/Milesight-IoT/SensorDecoders; codecs
in github.com/TheThingsNetwork/lorawan-devices, vendor/milesight-iot.
"""

from collections.abc import Mapping

from adapters.lorawan.byte_table import ByteTable, Item, Tagged, fields


def _item(length: int, text: str = "") -> Item:
    return Item(length, fields(text))


_OF_ITSELF = {
    b"\xff\x01": _item(1),
    b"\xff\x08": _item(6),
    b"\xff\x09": _item(2),
    b"\xff\x0a": _item(2),
    b"\xff\x0b": _item(1),
    b"\xff\x0f": _item(1),
    b"\xff\x16": _item(8),
    b"\xff\xfe": _item(1),
    b"\xff\xff": _item(2),
}
"""What a device says of itself when it starts: no observations."""

_BATTERY = {b"\x01\x75": _item(1, "battery [%] u8@0 !0xff")}
_CLIMATE = {
    b"\x03\x67": _item(2, "temperature [Cel] i16le@0 /10 !0x7fff,0x8000"),
    b"\x04\x68": _item(1, "humidity [%RH] u8@0 /2 !0xff"),
}


def _table(name: str, models: str, *items: Mapping[bytes, Item]) -> ByteTable:
    every = dict(_OF_ITSELF)
    for each in items:
        every |= each
    return ByteTable(name, frozenset(models.split()), ((None, Tagged(2, every)),))


AM107 = _table(
    "milesight-am107",
    "am107 am104 am100",
    _BATTERY | _CLIMATE,
    {
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
    },
)

AM300 = _table(
    "milesight-am300",
    "am307 am308 am319 am307l am308l am319l",
    _BATTERY | _CLIMATE,
    {
        b"\x05\x00": _item(1, "pir [] u8@0 =0:idle,1:trigger"),
        b"\x05\x6a": _item(2, "activity [] u16le@0 !0xffff"),
        b"\x06\xcb": _item(1, "light_level [] u8@0 !0xff"),
        b"\x07\x7d": _item(2, "co2 [ppm] u16le@0 !0xffff"),
        b"\x08\x7d": _item(2, "tvoc_level [] u16le@0 /100 !0xffff"),
        b"\x08\xe6": _item(2, "tvoc [ug/m3] u16le@0 !0xffff"),
        b"\x09\x73": _item(2, "pressure [hPa] u16le@0 /10 !0xffff"),
        b"\x0a\x7d": _item(2, "hcho [mg/m3] u16le@0 /100 !0xffff"),
        b"\x0b\x7d": _item(2, "pm2_5 [ug/m3] u16le@0 !0xffff"),
        b"\x0c\x7d": _item(2, "pm10 [ug/m3] u16le@0 !0xffff"),
        b"\x0d\x7d": _item(2, "o3 [ppm] u16le@0 /100 !0xffff"),
        b"\x0e\x01": _item(1, "buzzer_status [] u8@0 =0:off,1:on"),
        b"\x20\xce": _item(20),
        b"\x21\xce": _item(20),
    },
)

EM300 = _table(
    "milesight-em300",
    "em300th em300mcs em300sld em300zld em300mld em320th",
    _BATTERY | _CLIMATE,
    {
        b"\x05\x00": _item(1, "leakage_status [] u8@0 =0:normal,1:leak"),
        b"\x06\x00": _item(1, "magnet_status [] u8@0 =0:close,1:open"),
    },
)

EM310 = _table(
    "milesight-em310-udl",
    "em310udl em310",
    _BATTERY,
    {
        b"\x03\x82": _item(2, "distance [mm] u16le@0 !0xffff"),
        b"\x04\x00": _item(1, "tilt [] u8@0 =0:normal,1:tilt"),
    },
)

EM500 = _table(
    "milesight-em500",
    "em500co2 em500lgt em500udl em500pt100",
    _BATTERY | _CLIMATE,
    {
        b"\x03\x82": _item(2, "distance [mm] u16le@0 !0xffff"),
        b"\x03\x94": _item(4, "light [lx] u32le@0 !0xffffffff"),
        b"\x05\x7d": _item(2, "co2 [ppm] u16le@0 !0xffff"),
        b"\x06\x73": _item(2, "pressure [hPa] u16le@0 /10 !0xffff"),
    },
)

WS52X = _table(
    "milesight-ws52x",
    "ws52x ws523 ws525",
    {
        b"\x03\x74": _item(2, "voltage [V] u16le@0 /10"),
        b"\x04\x80": _item(4, "active_power [W] u32le@0"),
        b"\x05\x81": _item(1, "power_factor [%] u8@0"),
        b"\x06\x83": _item(4, "power_consumption [Wh] u32le@0"),
        b"\x07\xc9": _item(2, "current [mA] u16le@0"),
        b"\x08\x70": _item(1, "socket_status [] bool@0:0"),
    },
)

WS301 = _table(
    "milesight-ws301",
    "ws301",
    _BATTERY,
    {
        b"\x03\x00": _item(1, "door [] u8@0 =0:close,1:open"),
        b"\x04\x00": _item(1, "install [] u8@0 =0:yes,1:no"),
    },
)

WS202 = _table(
    "milesight-ws202",
    "ws202",
    _BATTERY,
    {
        b"\x03\x00": _item(1, "pir [] u8@0 =0:normal,1:trigger"),
        b"\x04\x00": _item(1, "light [] u8@0 =0:dark,1:bright"),
    },
)
