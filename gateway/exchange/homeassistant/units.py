"""How Home Assistant writes the units of QUDT, and which of them each of its device classes takes.

Place: asked by `classes` when a stream is described. The symbols and sets are those of Home
Assistant 2024.3 (homeassistant/const.py, homeassistant/components/sensor/const.py), which newer
versions have as well; `make test` holds them against its code.
"""

from collections.abc import Mapping

from gateway.rdf.namespaces import UNIT

_SYMBOLS = """
DEG_C °C; DEG_F °F; K K; PERCENT %; PERCENT_RH %; PPTH ‰; PPM ppm; PPB ppb; PH pH;
PA Pa; HectoPA hPa; KiloPA kPa; MegaPA MPa; MilliBAR mbar; CentiBAR cbar; BAR bar; PSI psi;
MilliM_HG mmHg; IN_HG inHg;
V V; MilliV mV; MicroV µV; KiloV kV; A A; MilliA mA; MicroA µA; W W; MilliW mW; KiloW kW; MegaW MW;
VA VA; KiloVA kVA; VA-HR VAh; KiloVA-HR kVAh; VAR var; KiloVAR kvar; VAR-HR varh; KiloVAR-HR kvarh;
W-HR Wh; KiloW-HR kWh; MegaW-HR MWh; GigaW-HR GWh; J J; KiloJ kJ; MegaJ MJ; GigaJ GJ; KiloCAL kcal;
A-HR Ah; MilliA-HR mAh; OHM Ω; KiloOHM kΩ; MegaOHM MΩ;
S-PER-M S/m; MicroS-PER-CentiM µS/cm; MilliS-PER-CentiM mS/cm; DeciS-PER-M dS/m;
LUX lx; LM lm; CD cd; CD-PER-M2 cd/m²; W-PER-M2 W/m²; DeciB dB; DeciB_M dBm; DeciB_A dBA;
BQ Bq; BQ-PER-M3 Bq/m³; MicroSV-PER-HR µSv/h;
HZ Hz; KiloHZ kHz; MegaHZ MHz; GigaHZ GHz;
SEC s; MilliSEC ms; MicroSEC µs; MIN min; HR h; DAY d;
BEAT-PER-MIN bpm; REV-PER-MIN rpm; REV-PER-SEC rps;
M m; KiloM km; CentiM cm; MilliM mm; MicroM µm; MI mi; YD yd; IN in; FT ft; M2 m²; CentiM2 cm²;
M3 m³; L L; MilliL mL; GAL_US gal; FT3 ft³; DEG °; RAD rad;
M-PER-SEC m/s; KiloM-PER-HR km/h; MI-PER-HR mph; FT-PER-SEC ft/s; KN kn; M-PER-SEC2 m/s²; G g₀;
MilliG mg₀; MilliM-PER-HR mm/h; MilliM-PER-DAY mm/d;
M3-PER-SEC m³/s; M3-PER-HR m³/h; M3-PER-MIN m³/min; FT3-PER-MIN ft³/min; GAL_US-PER-MIN gal/min;
L-PER-SEC L/s; L-PER-MIN L/min; L-PER-HR L/h;
KiloGM kg; GM g; MilliGM mg; MicroGM µg; LB lb; OZ oz; GM-PER-M3 g/m³; MilliGM-PER-M3 mg/m³;
MicroGM-PER-M3 µg/m³; MilliGM-PER-L mg/L;
BIT bit; KiloBIT kbit; MegaBIT Mbit; GigaBIT Gbit; BYTE B; KiloBYTE kB; MegaBYTE MB; GigaBYTE GB;
TeraBYTE TB; KibiBYTE KiB; MebiBYTE MiB; GibiBYTE GiB; TebiBYTE TiB;
BIT-PER-SEC bit/s; KiloBIT-PER-SEC kbit/s; MegaBIT-PER-SEC Mbit/s; GigaBIT-PER-SEC Gbit/s;
KiloBYTE-PER-SEC kB/s; MegaBYTE-PER-SEC MB/s; PER-MegaK mired
"""

_LENGTHS = "m km cm mm mi yd in ft"
_PRESSURES = "Pa hPa kPa mbar cbar bar psi mmHg inHg"
_ENERGIES = "Wh kWh MWh MJ GJ"
_SPEEDS = "m/s km/h mph ft/s kn"
_VOLUMES = "m³ L mL gal ft³"
_MASS_IN_AIR = "µg/m³"

_TAKEN = {
    "apparent_power": "VA",
    "aqi": "",
    "atmospheric_pressure": _PRESSURES,
    "battery": "%",
    "carbon_dioxide": "ppm",
    "carbon_monoxide": "ppm",
    "current": "A mA",
    "data_rate": "bit/s kbit/s Mbit/s Gbit/s kB/s MB/s",
    "data_size": "bit kbit Mbit Gbit B kB MB GB TB KiB MiB GiB TiB",
    "distance": _LENGTHS,
    "duration": "d h min s ms",
    "energy": _ENERGIES,
    "energy_storage": _ENERGIES,
    "frequency": "Hz kHz MHz GHz",
    "gas": "m³ ft³",
    "humidity": "%",
    "illuminance": "lx",
    "irradiance": "W/m²",
    "moisture": "%",
    "nitrogen_dioxide": _MASS_IN_AIR,
    "nitrogen_monoxide": _MASS_IN_AIR,
    "nitrous_oxide": _MASS_IN_AIR,
    "ozone": _MASS_IN_AIR,
    "ph": "",
    "pm1": _MASS_IN_AIR,
    "pm10": _MASS_IN_AIR,
    "pm25": _MASS_IN_AIR,
    "power": "W kW",
    "power_factor": "%",
    "precipitation": "mm cm in",
    "precipitation_intensity": "mm/h mm/d",
    "pressure": _PRESSURES,
    "reactive_power": "var",
    "signal_strength": "dB dBm",
    "sound_pressure": "dB dBA",
    "speed": _SPEEDS,
    "sulphur_dioxide": _MASS_IN_AIR,
    "temperature": "°C °F K",
    "volatile_organic_compounds": _MASS_IN_AIR,
    "volatile_organic_compounds_parts": "ppb ppm",
    "voltage": "V mV",
    "volume_flow_rate": "m³/h L/min ft³/min gal/min",
    "volume_storage": _VOLUMES,
    "water": "m³ L gal ft³",
    "weight": "kg g mg µg oz lb",
    "wind_speed": _SPEEDS,
}

_WITHOUT_UNIT = frozenset({"aqi", "ph", "power_factor"})
"""Device classes that take a number without a unit."""


def _symbols() -> Mapping[str, str]:
    pairs = (entry.split() for entry in _SYMBOLS.replace("\n", " ").split(";"))
    return {UNIT + name: symbol for name, symbol in pairs}


SYMBOLS = _symbols()
"""By QUDT unit IRI; what has no unit, as UNITLESS and NUM, is not among them."""

TAKEN: Mapping[str, frozenset[str]] = {
    name: frozenset(symbols.split()) for name, symbols in _TAKEN.items()
}
"""The symbols that a device class of sensors and numbers takes."""


def symbol_for(device_class: str, unit: str | None) -> str | None:
    """The symbol that a class takes for a unit: "" where it takes none, None where it does not fit.

    >>> symbol_for("temperature", UNIT + "DEG_C"), symbol_for("temperature", UNIT + "LUX")
    ('°C', None)
    >>> symbol_for("ph", UNIT + "PH"), symbol_for("power_factor", None)
    ('', '')
    """
    symbol = SYMBOLS.get(unit or "", "")
    if symbol in TAKEN[device_class]:
        return symbol
    is_bare = not symbol or unit == UNIT + "PH"
    return "" if is_bare and device_class in _WITHOUT_UNIT else None
