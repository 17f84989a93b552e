"""Dragino: each value at its place, big endian, on port 2.

Sources: user manuals of the LHT65 (v1.8, "Uplink payload") and the LSE01 (v1.1, "Uplink payload").
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

_PORT = frozenset({2})

LHT65 = ByteTable("dragino-lht65", frozenset({"lht65"}), ((_PORT, _LHT65),))
LSE01 = ByteTable("dragino-lse01", frozenset({"lse01"}), ((_PORT, _LSE01),))
