"""Ruuvi: the advertisement of a RuuviTag, data format 5 (RAWv2), big endian.

Source: Ruuvi's documentation, "Data format 5 (RAWv2)"; its least and greatest values are valid,
the one beyond says "not available".
"""

from adapters.lorawan.byte_table import ByteTable, Fixed, fields

_FORMAT_5 = Fixed(
    fields(
        """
        temperature [Cel] i16be@1 *0.005 !0x8000
        humidity [%RH] u16be@3 *0.0025 !0xffff
        pressure [Pa] u16be@5 +50000 !0xffff
        acceleration_x [gn] i16be@7 *0.001 !0x8000
        acceleration_y [gn] i16be@9 *0.001 !0x8000
        acceleration_z [gn] i16be@11 *0.001 !0x8000
        voltage [V] u16be@13:5+11 *0.001 +1.6 !2047
        tx_power [dBm] u16be@13:0+5 *2 -40 !31
        movement_counter [] u8@15 !255
        sequence [] u16be@16 !65535
        mac [] hex6@18
        """
    )
)

RUUVI_5 = ByteTable("ruuvi-5", frozenset(), ((None, _FORMAT_5),))
