"""Cayenne Low Power Payload: items behind a channel number and a data type, big endian.

Names have the channel's number behind them: `temperature_1`. Source: Cayenne LPP 1.0, data types
of the IPSO objects (object number less 3200), and the additional ones in wide use.
"""

from adapters.lorawan.byte_table import ByteTable, Item, Tagged, fields


def _item(length: int, text: str) -> Item:
    return Item(length, fields(text))


_TYPES = {
    0: _item(1, "digital_in [] u8@0"),
    1: _item(1, "digital_out [] u8@0"),
    2: _item(2, "analog_in [] i16be@0 /100"),
    3: _item(2, "analog_out [] i16be@0 /100"),
    100: _item(4, "generic [] u32be@0"),
    101: _item(2, "luminosity [lx] u16be@0"),
    102: _item(1, "presence [] u8@0"),
    103: _item(2, "temperature [Cel] i16be@0 /10"),
    104: _item(1, "relative_humidity [%RH] u8@0 /2"),
    113: _item(
        6,
        """
        accelerometer_x [gn] i16be@0 /1000
        accelerometer_y [gn] i16be@2 /1000
        accelerometer_z [gn] i16be@4 /1000
        """,
    ),
    115: _item(2, "barometric_pressure [hPa] u16be@0 /10"),
    116: _item(2, "voltage [V] u16be@0 /100"),
    117: _item(2, "current [A] u16be@0 /1000"),
    118: _item(4, "frequency [Hz] u32be@0"),
    120: _item(1, "percentage [%] u8@0"),
    121: _item(2, "altitude [m] i16be@0"),
    125: _item(2, "concentration [ppm] u16be@0"),
    128: _item(2, "power [W] u16be@0"),
    130: _item(4, "distance [m] u32be@0 /1000"),
    131: _item(4, "energy [kWh] u32be@0 /1000"),
    132: _item(2, "direction [deg] u16be@0"),
    134: _item(
        6,
        """
        gyrometer_x [] i16be@0 /100
        gyrometer_y [] i16be@2 /100
        gyrometer_z [] i16be@4 /100
        """,
    ),
    136: _item(
        9,
        """
        latitude [deg] i24be@0 /10000
        longitude [deg] i24be@3 /10000
        gps_altitude [m] i24be@6 /100
        """,
    ),
    142: _item(1, "switch [] u8@0"),
}

CAYENNE_LPP = ByteTable(
    "cayenne-lpp",
    frozenset({"cayenne", "cayennelpp", "lpp"}),
    ((None, Tagged(1, {bytes([tag]): item for tag, item in _TYPES.items()}, channels=True)),),
)
