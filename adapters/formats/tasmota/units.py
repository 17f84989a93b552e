"""Which unit a value of Tasmota has: told beside the sensors, or always the driver's own."""

from collections.abc import Mapping

from adapters.values.meaning import Meaning, Told, named
from adapters.values.payload import Json
from adapters.values.units import unit_iri
from adapters.values.usual_words import usual

_TEMPERATURES = {"C": "°C", "F": "°F"}

# Last name of a path -> the sibling at the top that tells its unit.
_TOLD = {
    "Temperature": "TempUnit",
    "DewPoint": "TempUnit",
    "HeatIndex": "TempUnit",
    "FeelsLike": "TempUnit",
    "AmbientTemperature": "TempUnit",
    "Pressure": "PressureUnit",
    "SeaPressure": "PressureUnit",
    "Speed": "SpeedUnit",
    "WindSpeed": "SpeedUnit",
}
_DEFAULTS = {"TempUnit": "°C", "PressureUnit": "hPa", "SpeedUnit": None}

_ALWAYS = {
    "Humidity": "%RH",
    "Illuminance": "lx",
    "Total": "kWh",
    "Today": "kWh",
    "Yesterday": "kWh",
    "ExportActive": "kWh",
    "ImportActive": "kWh",
    "Period": "Wh",
    "Power": "W",
    "ApparentPower": "VA",
    "ReactivePower": "var",
    "Voltage": "V",
    "Current": "A",
    "Frequency": "Hz",
    "Factor": "1",
    "Distance": "cm",
    "CarbonDioxide": "ppm",
    "eCO2": "ppm",
    "TVOC": "ppb",
    "PM1": "µg/m³",
    "PM2.5": "µg/m³",
    "PM10": "µg/m³",
    "Signal": "dBm",
    "RSSI": "%",
    "BatteryPercentage": "%",
    "UptimeSec": "s",
}


def unit_symbol(document: Json, name: str) -> str | None:
    """The symbol of the unit of the values called `name` in a message; None where it has none."""
    teller = _TOLD.get(name)
    if teller is None:
        return _ALWAYS.get(name)
    told = document.get(teller) if isinstance(document, Mapping) else None
    if not isinstance(told, str):
        return _DEFAULTS[teller]
    return _TEMPERATURES.get(told, told) if teller == "TempUnit" else told


def unit_of(document: Json, name: str) -> str | None:
    """The unit of a value as a QUDT unit IRI, for decoding."""
    symbol = unit_symbol(document, name)
    return None if symbol is None else unit_iri(symbol)


def meaning_of(name: str, symbol: str | None) -> Meaning:
    """What values called `name` measure; a bare Total or Today is energy."""
    if name in {"Total", "Today", "Yesterday", "Period", "ExportActive", "ImportActive"}:
        return named("energy", name, Told(symbol))
    return usual(name, Told(symbol)).meaning
