"""Netvox: a version, a device type and a report type, then each value at its place, big endian.

Source: codec of the R711, R718A, R718AB and R720A in github.com/TheThingsNetwork/lorawan-devices,
vendor/netvox. Report type 1 has the values; type 0 tells versions.
"""

from adapters.lorawan.byte_table import ByteTable, Fixed, fields

_CLIMATE = Fixed(
    fields(
        """
        Volt [V] u8@3:0+7 /10 ?2=1
        Temp [Cel] i16be@4 /100 !0x7fff ?2=1
        Humi [%RH] u16be@6 /100 !0xffff ?2=1
        """
    )
)

R718AB = ByteTable(
    "netvox-r718ab",
    frozenset({"r711", "r718a", "r718ab", "r720a"}),
    ((frozenset({6}), _CLIMATE),),
)
