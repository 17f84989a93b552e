"""Conversion of units: exact decimals, refusals, what becomes of a device's unit in a stream."""

from datetime import UTC, datetime

import pytest

from adapters.registry import Registry
from adapters.values.conversion import INSTEAD, convert, dimension
from adapters.values.fault import Fault, FaultReason
from adapters.values.mapping import Mapping
from adapters.values.message import Message
from adapters.values.result import DECIMAL, DOUBLE, INTEGER, Result
from adapters.values.units import OWN, UNIT, unit_iri


def converted(lexical: str, symbol: str, wanted: str, datatype: str = DECIMAL) -> Result | Fault:
    unit, to = unit_iri(symbol), unit_iri(wanted)
    assert unit
    assert to
    return convert(Result(lexical, datatype), unit, to)


@pytest.mark.parametrize(
    ("lexical", "symbol", "wanted", "exact"),
    [
        ("68.0", "°F", "°C", "20.0"),
        ("-40.0", "°F", "°C", "-40.0"),
        ("70.3", "°F", "°C", "21.27777777777778"),
        ("0.0", "K", "°C", "-273.15"),
        ("21.5", "°C", "K", "294.65"),
        ("760.0", "mmHg", "hPa", "1013.25014435400"),
        ("1013.25", "mbar", "hPa", "1013.25"),
        ("29.92", "inHg", "hPa", "1013.2074811900272"),
        ("14.696", "psi", "kPa", "101.3253531804022"),
        ("120.0", "Wmin", "Wh", "2.0"),
        ("48211.337", "Wh", "kWh", "48.211337"),
        ("1012.4", "mWh", "Wh", "1.0124"),
        ("36.0", "km/h", "m/s", "10.0"),
        ("0.51", "/", "%", "51.00"),
        ("51.0", "%", "%RH", "51.0"),
        ("1.5", "in/h", "mm/h", "38.10"),
        ("12.0", "µS/cm", "dS/m", "0.0120"),
        ("1.0", "gal", "L", "3.7854117840"),
        ("98.0665", "m/s²", "gn", "10.0000"),
    ],
)
def test_decimal_is_converted_to_the_last_digit(
    lexical: str, symbol: str, wanted: str, exact: str
) -> None:
    result = converted(lexical, symbol, wanted)
    assert isinstance(result, Result)
    assert result.datatype == DECIMAL
    assert float(result.lexical) == float(exact)
    assert result.lexical.rstrip("0") == exact.rstrip("0")


def test_integer_stays_one_where_it_can() -> None:
    assert converted("3", "V", "mV", INTEGER) == Result("3000", INTEGER)
    assert converted("2985", "mV", "V", INTEGER) == Result("2.985", DECIMAL)
    assert converted("2000", "mV", "V", INTEGER) == Result("2", INTEGER)


def test_double_is_converted_as_a_double() -> None:
    assert converted("1e3", "mV", "V", DOUBLE) == Result("1.0", DOUBLE)
    overflow = converted("1e308", "MWh", "J", DOUBLE)
    assert isinstance(overflow, Fault)
    assert overflow.reason is FaultReason.NOT_FINITE
    assert converted("1e-99999999", "MWh", "J", DOUBLE) == Result("0.0", DOUBLE)


@pytest.mark.parametrize(
    ("symbol", "wanted"),
    [
        ("°C", "%"),
        ("W", "VA"),
        ("var", "W"),
        ("Hz", "rpm"),
        ("dBm", "dB"),
        ("kWh", "kW"),
        ("m", "m2"),
    ],
)
def test_units_without_a_common_meaning_refuse(symbol: str, wanted: str) -> None:
    result = converted("1.0", symbol, wanted)
    assert isinstance(result, Fault)
    assert result.reason is FaultReason.UNIT_MISMATCH


def test_same_unit_needs_no_dimension() -> None:
    assert converted("-71", "dBm", "dBm", INTEGER) == Result("-71", INTEGER)
    assert dimension(UNIT + "DeciB_M") is None


def test_numbers_of_the_longest_kind_keep_every_digit() -> None:
    digits = "1" * 63
    result = converted(f"{digits}.1", "V", "mV")
    assert isinstance(result, Result)
    assert result.lexical == f"{digits}100.0"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (UNIT + "V-A", "VA"),
        (UNIT + "V-A_Reactive", "VAR"),
        (UNIT + "KiloV-A_Reactive-HR", "KiloVAR-HR"),
        ("http://qudt.org/vocab/unit#DegreeCelsius", "DEG_C"),
        (UNIT + "DEG_C", "DEG_C"),
        ("unit:LUX", "LUX"),
    ],
)
def test_deprecated_names_of_qudt_become_those_of_today(old: str, new: str) -> None:
    assert unit_iri(old) == UNIT + new


def mapping(unit: str | None, device_unit: str | None) -> Mapping:
    return Mapping(
        "urn:m", "t", "scalar", "urn:s", "urn:p", "urn:f", unit=unit, device_unit=device_unit
    )


def test_unit_of_a_device_that_qudt_lacks_is_never_that_of_an_observation() -> None:
    registry, errors = Registry.compile([mapping(None, "Wmin")])
    assert not errors
    (seen,) = registry.decode(Message("t", b"90", datetime.now(UTC))).observations
    assert (seen.lexical, seen.unit) == ("1.5", UNIT + "W-HR")
    assert all(unit.startswith(OWN) for unit in INSTEAD)
    _, (error,) = Registry.compile([mapping("Wmin", None)])
    assert error.member == "unit"
    assert "W-HR" in error.reason


def test_mapping_whose_units_can_never_meet_is_refused_at_once() -> None:
    _, (error,) = Registry.compile([mapping("°C", "hPa")])
    assert (error.member, "does not convert" in error.reason) == ("device_unit", True)
