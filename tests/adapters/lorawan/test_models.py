"""Byte tables of models, each with the example that its vendor, or its codec, publishes."""

import pytest

from adapters.lorawan.codecs import table_of
from adapters.values.result import Result

AM308 = "0367EE0004687C05000106CB02077DA803087D2500097366270B7D20000C7D3000"
AM319 = "036734010468650500" + "0106CB02077DA803087D2500097366270A7D04000B7D20000C7D3000"

EXAMPLES = [
    ("EM300-TH", 85, "0175320367C80004683C", "battery 50, temperature 20.0, humidity 30.0"),
    (
        "EM300-MCS",
        85,
        "01755C03673401046865060001",
        "battery 92, temperature 30.8, humidity 50.5, magnet_status open",
    ),
    ("EM310-UDL", 85, "01755C038244080400" + "01", "battery 92, distance 2116, tilt tilt"),
    (
        "EM500-CO2",
        85,
        "01755C03673401046865057d67040673" + "6827",
        "battery 92, temperature 30.8, humidity 50.5, co2 1127, pressure 1008.8",
    ),
    ("EM500-LGT", 85, "01755C039450000000", "battery 92, light 80"),
    ("EM500-UDL", 85, "01755C03821e00", "battery 92, distance 30"),
    ("EM500-PT100", 85, "01756403671901", "battery 100, temperature 28.1"),
    (
        "AM307",
        85,
        "01755C03673401046865056A4900",
        "battery 92, temperature 30.8, humidity 50.5, activity 73",
    ),
    ("AM307", 85, "077DE704087D070009733F27", "co2 1255, tvoc_level 0.07, pressure 1004.7"),
    (
        "AM308",
        85,
        AM308,
        "temperature 23.8, humidity 62.0, pir trigger, light_level 2, co2 936, tvoc_level 0.37,"
        " pressure 1008.6, pm2_5 32, pm10 48",
    ),
    (
        "AM319",
        85,
        AM319,
        "temperature 30.8, humidity 50.5, pir trigger, light_level 2, co2 936, tvoc_level 0.37,"
        " pressure 1008.6, hcho 0.04, pm2_5 32, pm10 48",
    ),
    (
        "WS523",
        85,
        "08700105812C07C94A0003743009068309660000048007000000",
        "socket_status true, power_factor 44, current 74, voltage 235.2, power_consumption 26121,"
        " active_power 7",
    ),
    (
        "WS525",
        85,
        "08700105812C07C94A0003743009068309660000048007000000",
        "socket_status true, power_factor 44, current 74, voltage 235.2, power_consumption 26121,"
        " active_power 7",
    ),
    (
        "WS52x",
        85,
        "0374ED0806835604000008700105815207C9A400",
        "voltage 228.5, power_consumption 1110, socket_status true, power_factor 82, current 164",
    ),
    ("WS301", 85, "030001", "door open"),
    ("WS301", 85, "040001", "install no"),
    ("WS202", 85, "030001", "pir trigger"),
    ("WS202", 85, "040000", "light dark"),
    ("LHT52", 2, "08CD02207FFF0161CD4EDD", "TempC_SHT 22.53, Hum_SHT 54.4, TempC_DS sentinel"),
    (
        "LHT65N",
        2,
        "CBF60B0D0376010ADD7FFF",
        "BatV 3.062, Bat_status Good, TempC_SHT 28.29, Hum_SHT 88.6, TempC_DS 27.81",
    ),
    (
        "LDS02",
        10,
        "0B88010025000100" + "0000",
        "BAT_V 2.952, DOOR_OPEN_STATUS false, DOOR_OPEN_TIMES 9472, LAST_DOOR_OPEN_DURATION 65536",
    ),
    ("R718AB", 6, "0113012409EA1A90000000", "Volt 3.6, Temp 25.38, Humi 68.00"),
    (
        "Adeunis Comfort",
        1,
        "4C9600C51F00C72000C82100CA2200CC2300CD2414ABA3E9",
        "low_battery true, temperature 19.7, humidity 31",
    ),
    (
        "comfort-co2",
        1,
        "6A8001B33E01A401B43F01A5",
        "low_battery false, temperature 43.5, humidity 62, co2 420",
    ),
    (
        "temp-4",
        1,
        "579601B3FF9C01F4FFFF14ABA3E9",
        "low_battery true, temperature_1 43.5, temperature_2 -10.0",
    ),
    (
        "adeunis-pulse",
        1,
        "5A67000001270001000200030004" + "14ABA3E9",
        "low_battery true, counter_a 295",
    ),
    (
        "adeunis motion",
        1,
        "5C80011E320020",
        "low_battery false, presence_now true, presence 30, luminosity 50",
    ),
    (
        "adeunis-breath",
        1,
        "6D8001B3003E001E001401B3003E001E0014",
        "low_battery false, tvoc 435, pm10 62, pm25 30, pm1 20",
    ),
    ("deltap", 1, "5320FE0CFF06000000FA01F4", "low_battery false, delta_pressure -500"),
    (
        "dry-contacts-2",
        1,
        "40C00001000200030004A5",
        "low_battery false, counter_a 1, counter_b 2, counter_c 3, counter_d 4, contact_a true,"
        " contact_b true, contact_c false, contact_d false",
    ),
    ("temp-4", 1, "1000216C00010001000C8001"[:22], ""),
]


@pytest.mark.parametrize(("model", "port", "payload", "expected"), EXAMPLES)
def test_published_example_of_a_model_is_read(
    model: str, port: int, payload: str, expected: str
) -> None:
    table = table_of(model)
    assert table is not None
    reading = table.read(port, bytes.fromhex(payload))
    told = [
        f"{name} {found.result.lexical if isinstance(found.result, Result) else 'sentinel'}"
        for name, found in reading.found.items()
    ]
    assert ", ".join(told) == expected
    assert reading.faults == []
