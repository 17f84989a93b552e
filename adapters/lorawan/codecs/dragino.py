"""Dragino: each value at its place, big endian, mostly on port 2.

Sources: user manuals of the LHT65 (v1.8, "Uplink payload") and the LSE01 (v1.1, "Uplink payload");
codecs of the LHT52, LHT65N and LDS02 in github.com/TheThingsNetwork/lorawan-devices.
The high two bits of the LHT65's battery are a level, those of the LSE01's are not defined.
"""

from adapters.lorawan.byte_table import ByteTable, Fixed, fields

_LHT65 = Fixed(
    fields(
        """
        BatV [V] u16be@0:0+14 /1000
        Bat_status [] u16be@0:14+2 =0:Ultra Low,1:Low,2:OK,3:Good
        TempC_SHT [Cel] i16be@2 /100 !0x7fff
        Hum_SHT [%RH] u16be@4 /10 !0xffff
        TempC_DS [Cel] i16be@7 /100 !0x7fff ?6&0x7f=1,9
        Exti_pin_level [] bool@7 ?6&0x7f=4
        Exti_status [] bool@8 ?6&0x7f=4
        ILL_lux [lx] u16be@7 ?6&0x7f=5
        ADC_V [V] u16be@7 /1000 ?6&0x7f=6
        Exit_count [] u16be@7 ?6&0x7f=7
        """
    )
)

_LSE01 = Fixed(
    fields(
        """
        BatV [V] u16be@0:0+14 /1000
        TempC_DS18B20 [Cel] i16be@2 /10 !0x7fff,0x0ccc
        water_SOIL [%] u16be@4 /100 !0xffff ?10&0x80=0
        temp_SOIL [Cel] i16be@6 /100 !0x7fff ?10&0x80=0
        conduct_SOIL [uS/cm] u16be@8 !0xffff ?10&0x80=0
        """
    )
)

_LHT52 = Fixed(
    fields(
        """
        TempC_SHT [Cel] i16be@0 /100 !0x7fff
        Hum_SHT [%RH] u16be@2 /10 !0xffff
        TempC_DS [Cel] i16be@4 /100 !0x7fff
        """
    )
)

_LHT52_STATUS = Fixed(fields("Bat_mV [mV] u16be@5"))

_LDS02 = Fixed(
    fields(
        """
        BAT_V [V] u16be@0:0+14 /1000
        DOOR_OPEN_STATUS [] bool@0:7 ?2=1,3
        DOOR_OPEN_TIMES [] u24be@3 ?2=1
        LAST_DOOR_OPEN_DURATION [min] u24be@6 ?2=1
        WATER_LEAK_STATUS [] bool@0:6 ?2=2,3
        WATER_LEAK_TIMES [] u24be@3 ?2=2
        LAST_WATER_LEAK_DURATION [min] u24be@6 ?2=2
        """
    )
)
"""Byte 2 says whether it watches a door, a leak, or both."""

_PORT = frozenset({2})

LHT52 = ByteTable(
    "dragino-lht52",
    frozenset({"lht52"}),
    ((_PORT, _LHT52), (frozenset({5}), _LHT52_STATUS)),
)
LDS02 = ByteTable("dragino-lds02", frozenset({"lds02", "lwl02"}), ((frozenset({10}), _LDS02),))
LHT65 = ByteTable("dragino-lht65", frozenset({"lht65", "lht65n"}), ((_PORT, _LHT65),))
LSE01 = ByteTable("dragino-lse01", frozenset({"lse01"}), ((_PORT, _LSE01),))
