"""The unit crosswalk: every spelling of the vocabularies that devices use."""

import pytest

from adapters.values.units import UNIT, unit_iri


@pytest.mark.parametrize(
    ("spellings", "name"),
    [
        (["°C", "Cel", "℃", "degC", " °C "], "DEG_C"),
        (["°F", "[degF]", "℉"], "DEG_F"),
        (["K", "\u212a"], "K"),
        (["%", "%EL", "/100"], "PERCENT"),
        (["%RH"], "PERCENT_RH"),
        (["/"], "UNITLESS"),
        (["ppm", "[ppm]"], "PPM"),
        (["ppb", "[ppb]"], "PPB"),
        (["\u00b5g/m³", "\u03bcg/m³", "ug/m3", "ug.m-3", "µg/m3"], "MicroGM-PER-M3"),
        (["\u00b5S/cm", "\u03bcS/cm", "uS.cm-1"], "MicroS-PER-CentiM"),
        (["dS/m", "dS.m-1"], "DeciS-PER-M"),
        (["hPa"], "HectoPA"),
        (["mbar"], "MilliBAR"),
        (["Pa"], "PA"),
        (["kPa"], "KiloPA"),
        (["m/s", "m.s-1"], "M-PER-SEC"),
        (["km/h", "km.h-1"], "KiloM-PER-HR"),
        (["m/s²", "m/s2", "m.s-2"], "M-PER-SEC2"),
        (["mm/h", "mm.h-1"], "MilliM-PER-HR"),
        (["m³", "m3"], "M3"),
        (["m³/h", "m3/h", "m3.h-1"], "M3-PER-HR"),
        (["L", "l"], "L"),
        (["Wh", "W.h"], "W-HR"),
        (["kWh", "kW.h"], "KiloW-HR"),
        (["VA"], "VA"),
        (["var"], "VAR"),
        (["kvarh", "kvar.h"], "KiloVAR-HR"),
        (["mV"], "MilliV"),
        (["mA"], "MilliA"),
        (["lx"], "LUX"),
        (["dBm"], "DeciB_M"),
        (["dB"], "DeciB"),
        (["Hz"], "HZ"),
        (["°", "deg"], "DEG"),
        (["count", "{#}"], "NUM"),
        (["rpm", "{#}.min-1", "{#}/min"], "REV-PER-MIN"),
        (["1/s", "s-1"], "PER-SEC"),
        (["[g]", "gn"], "G"),
        (["g"], "GM"),
        (["Ω", "\u2126", "Ohm"], "OHM"),
    ],
)
def test_spellings_of_one_unit(spellings: list[str], name: str) -> None:
    assert {spelling: unit_iri(spelling) for spelling in spellings} == dict.fromkeys(
        spellings, UNIT + name
    )


@pytest.mark.parametrize(
    ("one", "other"), [("s", "S"), ("K", "k"), ("mW", "MW"), ("V", "v"), ("Pa", "pa"), ("h", "H")]
)
def test_case_matters(one: str, other: str) -> None:
    assert unit_iri(one) is not None
    assert unit_iri(one) != unit_iri(other)


@pytest.mark.parametrize(
    "text",
    ["", " ", "furlong", "//", "/s/", "m//s", "m/2", "g/G", "x" * 33, "\ufdfa" * 32, "\ud800"],
)
def test_text_that_names_no_unit(text: str) -> None:
    assert unit_iri(text) is None


@pytest.mark.parametrize("name", ["V-A", "V-A_Reactive", "KiloV-A_Reactive-HR"])
def test_deprecated_qudt_units_are_not_given(name: str) -> None:
    given = {unit_iri(text) for text in ("VA", "var", "kvarh")}
    assert UNIT + name not in given


@pytest.mark.parametrize(
    ("spellings", "name"),
    [
        (["ºC", "Celsius"], "DEG_C"),
        (["sec", "seconds", "Sec", "sec."], "SEC"),
        (["Hours", "Hr", "hour"], "HR"),
        (["lux", "LUX"], "LUX"),
        (["VAr", "VAR"], "VAR"),
        (["kVArh"], "KiloVAR-HR"),
        (["mired"], "PER-MegaK"),
        (["mm/s"], "MilliM-PER-SEC"),
    ],
)
def test_words_and_careless_spellings_of_real_devices(spellings: list[str], name: str) -> None:
    assert {spelling: unit_iri(spelling) for spelling in spellings} == dict.fromkeys(
        spellings, UNIT + name
    )
