"""Byte tables: the notation of a field, and the models that we know, in bytes of our own."""

import json

import pytest

from adapters.lorawan.byte_field import ByteField
from adapters.lorawan.byte_table import MAX_BYTES, ByteTable, Fixed, Tagged
from adapters.lorawan.codecs import TABLES, table_of
from adapters.values.fault import Fault, FaultReason
from adapters.values.result import BOOLEAN, DECIMAL, DOUBLE, INTEGER, STRING, Result
from adapters.values.units import unit_iri
from tests.paths import SHARED

EXAMPLES = SHARED / "data" / "sensors" / "lorawan" / "uplink_examples.json"


def read(notation: str, data: str) -> Result | Fault | None:
    return ByteField.compile(notation).read(bytes.fromhex(data))


@pytest.mark.parametrize(
    ("notation", "data", "lexical", "datatype"),
    [
        ("u8@1", "00ff", "255", INTEGER),
        ("i8@0", "ff", "-1", INTEGER),
        ("i16be@0 /10", "ff9c", "-10.0", DECIMAL),
        ("i16le@0 *0.01", "9cff", "-1.00", DECIMAL),
        ("u16be@0 +50000", "c350", "100000", INTEGER),
        ("u16be@0 - 0.5", "0001", "0.5", DECIMAL),
        ("u24be@0", "010203", "66051", INTEGER),
        ("i24le@0", "ffffff", "-1", INTEGER),
        ("u64be@0", "ffffffffffffffff", "18446744073709551615", INTEGER),
        ("u16be@0:0+14 /1000", "cbf6", "3.062", DECIMAL),
        ("u16be@0:14+2", "cbf6", "3", INTEGER),
        ("i8@0:4+4", "f0", "-1", INTEGER),
        ("u16le@0:15", "0080", "1", INTEGER),
        ("bool@0:7", "80", "true", BOOLEAN),
        ("bool@0:6", "80", "false", BOOLEAN),
        ("bool@0", "02", "true", BOOLEAN),
        ("f32be@0", "3dcccccd", "0.1", DECIMAL),
        ("f32le@0 *10", "cdcccc3d", "1.0", DECIMAL),
        ("f64be@0", "3ff8000000000000", "1.5", DECIMAL),
        ("f32be@0", "7f7fffff", "3.4028235e+38", DOUBLE),
        ("hex2@1", "00abcd00", "abcd", STRING),
        ("hex@1", "00abcdef", "abcdef", STRING),
        ("text4@0", "32312e35", "21.5", DECIMAL),
        ("text@1", "00414243", "ABC", STRING),
        ("u8@0 =0:closed,1:open", "01", "open", STRING),
        ("u8@0 ?1&0x0f=1,9", "07f9", "7", INTEGER),
    ],
)
def test_field_reads_what_its_notation_says(
    notation: str, data: str, lexical: str, datatype: str
) -> None:
    assert read(notation, data) == Result(lexical, datatype)


@pytest.mark.parametrize(
    ("notation", "data", "reason"),
    [
        ("i16be@0 !0x8000", "8000", FaultReason.SENTINEL),
        ("i16be@0 !-32768", "8000", FaultReason.SENTINEL),
        ("u16be@0:5+11 +1600 !2047", "ffe0", FaultReason.SENTINEL),
        ("f32be@0 !0x7fc00000", "7fc00000", FaultReason.SENTINEL),
        ("f32be@0", "7fc00000", FaultReason.NOT_FINITE),
        ("f64le@0", "000000000000f0ff", FaultReason.NOT_FINITE),
        ("u16be@1", "0000", FaultReason.MALFORMED),
        ("hex@3", "0000", FaultReason.MALFORMED),
        ("text2@0", "fffe", FaultReason.INVALID_UTF8),
        ("u8@0 =0:closed,1:open", "02", FaultReason.NOT_A_VALUE),
    ],
)
def test_raw_value_that_says_nothing_is_a_fault(
    notation: str, data: str, reason: FaultReason
) -> None:
    result = read(notation, data)
    assert isinstance(result, Fault)
    assert result.reason is reason


def test_field_whose_condition_does_not_hold_is_not_there() -> None:
    assert read("u8@0 ?1=3", "0702") is None
    assert read("u8@0 ?9=3", "0702") is None


@pytest.mark.parametrize(
    ("notation", "why"),
    [
        ("", "is no field"),
        ("u16@0", "be or le"),
        ("u12be@0", "is no field"),
        ("f16be@0", "32 or 64"),
        ("u8@0:4+6", "8 bits"),
        ("u8@0 /3", "no finite decimal"),
        ("u8@0 /0", "no finite decimal"),
        ("bool@0 *2", "only numbers"),
        ("hex4@0:3", "only integers"),
        ("u8@0 !red", "no raw value"),
        ("u8@0" + " " * 300, "is no field"),
    ],
)
def test_wrong_notation_is_refused_with_the_reason(notation: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ByteField.compile(notation)


def values(table: ByteTable, port: int | None, data: str) -> dict[str, str]:
    reading = table.read(port, bytes.fromhex(data))
    assert not reading.faults
    results = {name: found.result for name, found in reading.found.items()}
    return {n: "-" if isinstance(r, Fault) else r.lexical for n, r in results.items()}


@pytest.mark.parametrize(
    ("table", "port", "data", "expected"),
    [
        (
            "milesight-am107",
            85,
            "ff0bff ff0101 01754f 036702ff 046878",
            {"battery": "79", "temperature": "-25.4", "humidity": "60.0"},
        ),
        ("milesight-am107", 85, "0367ff7f 077d9001", {"temperature": "-", "co2": "400"}),
        (
            "elsys",
            5,
            "01ff9c 0237 070e2c 0c00fa 19012c190136 140007b9e8 3d00000000",
            {
                "temperature": "-10.0",
                "humidity": "55",
                "vdd": "3628",
                "externalTemperature": "25.0",
                "externalTemperature2": "30.0",
                "externalTemperature2_2": "31.0",
                "pressure": "506.344",
            },
        ),
        ("elsys", 5, "3b03aabbcc 0500 3e0102030405", {"motion": "0"}),
        (
            "dragino-lht65",
            2,
            "cbf60b0d0376 010add7fff",
            {
                "BatV": "3.062",
                "Bat_status": "Good",
                "TempC_SHT": "28.29",
                "Hum_SHT": "88.6",
                "TempC_DS": "27.81",
            },
        ),
        (
            "dragino-lht65",
            2,
            "4bf6fc180376 0500640000",
            {
                "BatV": "3.062",
                "Bat_status": "Low",
                "TempC_SHT": "-10.00",
                "Hum_SHT": "88.6",
                "ILL_lux": "100",
            },
        ),
        (
            "dragino-lse01",
            2,
            "0f5a0ccc0ab40488013610",
            {
                "BatV": "3.930",
                "TempC_DS18B20": "-",
                "water_SOIL": "27.40",
                "temp_SOIL": "11.60",
                "conduct_SOIL": "310",
            },
        ),
        (
            "cayenne-lpp",
            None,
            "0367011005670 0ff".replace(" ", ""),
            {"temperature_3": "27.2", "temperature_5": "25.5"},
        ),
        (
            "cayenne-lpp",
            1,
            "01880 6765ff2960a0003e8".replace(" ", ""),
            {"latitude_1": "42.3519", "longitude_1": "-87.9094", "gps_altitude_1": "10.00"},
        ),
        (
            "cayenne-lpp",
            1,
            "067104d2fb2e0000",
            {
                "accelerometer_x_6": "1.234",
                "accelerometer_y_6": "-1.234",
                "accelerometer_z_6": "0.000",
            },
        ),
    ],
)
def test_uplink_is_read_by_the_table_of_its_model(
    table: str, port: int | None, data: str, expected: dict[str, str]
) -> None:
    assert values(TABLES[table], port, data.replace(" ", "")) == expected


@pytest.mark.skipif(not EXAMPLES.is_file(), reason="no uplink examples in SOSA_GATEWAY_SHARED")
def test_published_examples_give_what_the_vendor_says() -> None:
    for example in json.loads(EXAMPLES.read_text()):
        table = table_of(example["device"].partition(" ")[2])
        assert table is not None
        read = values(table, example["fPort"], example["bytes"])
        assert {name: float(text) for name, text in read.items()} == example["decoded"]


@pytest.mark.parametrize(
    ("model", "table"),
    [
        ("AM107", "milesight-am107"),
        ("ers-co2", "elsys"),
        ("EMS Door", "elsys"),
        ("LHT65", "dragino-lht65"),
        ("dragino-lse01", "dragino-lse01"),
        ("CayenneLPP", "cayenne-lpp"),
    ],
)
def test_model_is_known_however_it_is_spelt(model: str, table: str) -> None:
    assert table_of(model) is TABLES[table]


def test_unknown_model_has_no_table() -> None:
    assert table_of("am107x") is None
    assert table_of("") is None


def test_unknown_tag_costs_what_stands_behind_it() -> None:
    reading = TABLES["milesight-am107"].read(85, bytes.fromhex("01755c" + "7777ff" + "0367ff00"))
    assert list(reading.found) == ["battery"]
    assert [fault.detail for fault in reading.faults] == ["7777 at byte 3 is no known tag"]


def test_item_that_is_cut_off_costs_itself() -> None:
    reading = TABLES["elsys"].read(1, bytes.fromhex("0100e2" + "0203" + "0401"))
    assert list(reading.found) == ["temperature", "humidity"]
    assert [fault.reason for fault in reading.faults] == [FaultReason.MALFORMED]


def test_fixed_layout_that_is_cut_off_keeps_the_fields_before() -> None:
    reading = TABLES["dragino-lse01"].read(2, bytes.fromhex("0f5a0ccc0ab4"))
    results = [found.result for found in reading.found.values()]
    assert [isinstance(result, Fault) for result in results] == [False, True]


def test_port_without_values_and_payload_without_end_are_faults() -> None:
    assert TABLES["dragino-lse01"].read(5, b"\x01" * 11).faults
    assert TABLES["elsys"].read(5, b"\x05\x01" * MAX_BYTES).faults


def test_every_unit_of_a_table_is_in_the_crosswalk() -> None:
    units = {field.unit for table in TABLES.values() for field in _fields(table) if field.unit}
    assert {unit for unit in units if unit_iri(unit) is None} == set()
    assert "Cel" in units


def _fields(table: ByteTable):  # type: ignore[no-untyped-def]
    for _, layout in table.layouts:
        if isinstance(layout, Fixed):
            yield from layout.fields
        elif isinstance(layout, Tagged):
            for item in layout.items.values():
                yield from item.fields
