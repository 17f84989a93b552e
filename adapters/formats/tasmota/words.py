"""What Tasmota calls its values, and in which unit they are: told beside them, or the driver's own.

Place on the way: decoding and discovery of the family. A name is the driver without its number or
address (`DS18B20` of `DS18B20-1`) and the path in it; what any driver may have stands behind `*`,
devices of a Zigbee bridge behind `ZbReceived`.
Sources: Tasmota's documentation of drivers and commands; hatasmota, sensor.py; tasmota/docs,
Smart-Meter-Interface and its collection of scripts: Total_in and Total_out are kWh, Power_curr is W
in each, and docs.evcc.io, Tasmota SML IR-reader (phases).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.values.meaning import Meaning, Told, WordTable
from adapters.values.payload import Json
from adapters.values.properties import VOCABULARY, Shape
from adapters.values.units import unit_iri

_TABLE = WordTable.of(
    """
    temperature         TempUnit     *.Temperature
    dew_point           TempUnit     *.DewPoint
    apparent_temperature TempUnit    *.HeatIndex *.FeelsLike
    temperature         TempUnit     *.AmbientTemperature MLX90614.AMBTMP
    own                 TempUnit     MLX90614.OBJTMP
    device_temperature  TempUnit     ESP32.Temperature ESP32S2.Temperature ESP32C3.Temperature
    device_temperature  TempUnit     ENERGY.Temperature
    humidity            %RH          *.Humidity
    absolute_humidity   g/m³         *.AbsHumidity *.aHumidity
    soil_moisture       %            Flora.Humidity Flora.Moisture
    presence            -            IBEACON.STATE
    moisture            %            *.Moisture
    conductivity        µS/cm        *.Fertility *.EC
    ph                  pH           *.pH
    atmospheric_pressure PressureUnit *.Pressure
    sea_level_pressure  PressureUnit *.SeaPressure
    illuminance         lx           *.Illuminance *.Ambient
    uv_index            1            *.UvIndex *.UVIndex
    sound_pressure      dB           *.Noise
    carbon_dioxide      ppm          *.CarbonDioxide *.eCO2
    carbon_monoxide     ppm          *.CarbonMonoxide
    volatile_organic_compounds_parts ppb *.TVOC
    air_quality_index   1            *.IAQ
    resistance          kΩ           BME680.Gas
    pm1                 µg/m³        *.PM1
    pm25                µg/m³        *.PM2.5
    pm10                µg/m³        *.PM10
    own                 µg/m³        *.CF1 *.CF2.5 *.CF10
    own                 K            *.CCT
    distance            mm           VL53L0X.Distance VL53L1X.Distance VL53LXX.Distance
    distance            cm           LD2410.Distance LD2410S.Distance *.Distance
    lightning_distance  km           AS3935.Distance
    own                 -            AS3935.Energy LD2410.Energy LD2410S.Energy
    people_count        -            LD2410S.People
    wind_speed          SpeedUnit    TX20.Speed.Act TX20.Speed.Avg TX23.Speed.Act TX23.Speed.Avg
    wind_gust           SpeedUnit    TX20.Speed.Max TX23.Speed.Max
    own                 SpeedUnit    TX20.Speed.Min TX23.Speed.Min
    wind_speed          SpeedUnit    *.WindSpeed WINDMETER.Speed WS2300.Speed
    own                 SpeedUnit    *.Speed
    wind_direction      °            TX20.Dir.Deg TX20.Dir.Avg TX23.Dir.Deg TX23.Dir.Avg
    own                 °            TX20.Dir.Min TX20.Dir.Max TX20.Dir.Range
    own                 °            TX23.Dir.Min TX23.Dir.Max TX23.Dir.Range
    precipitation       mm           RG-15.Total
    own                 mm           RG-15.Active RG-15.Event
    precipitation_intensity mm/h     RG-15.FlowRate
    weight              kg           HX711.Weight *.Weight
    pulse_count         -            COUNTER.C1 COUNTER.C2 COUNTER.C3 COUNTER.C4
    pulse_count         -            COUNTER.C5 COUNTER.C6 COUNTER.C7 COUNTER.C8
    power               W            *.Power *.ActivePower
    apparent_power      VA           *.ApparentPower
    reactive_power      var          *.ReactivePower
    power_factor        1            *.Factor
    voltage             V            *.Voltage *.RMSVoltage
    current             A            *.Current *.CurrentNeutral
    frequency           Hz           *.Frequency
    own                 °            *.PhaseAngle
    own                 %            ENERGY.Load
    energy              kWh          *.Total *.TotalTariff *.ImportActive *.Energy
    energy_today        kWh          *.Today
    energy_yesterday    kWh          *.Yesterday
    energy_period       Wh           *.Period
    exported_energy     kWh          *.ExportActive *.ExportTariff
    reactive_energy     kvarh        *.ImportReactive
    exported_reactive_energy kvarh   *.ExportReactive
    energy              kWh          *.Total_in
    exported_energy     kWh          *.Total_out
    power               W            *.Power_curr *.Power_cur SML.power_l1 SML.power_l2 SML.power_l3
    voltage             V            *.Volt_p1 *.Volt_p2 *.Volt_p3
    voltage             V            SML.voltage_l1 SML.voltage_l2 SML.voltage_l3
    current             A            SML.current_l1 SML.current_l2 SML.current_l3
    battery             %            *.Battery *.BatteryPercentage BatteryPercentage
    battery_voltage     V            *.BatteryVoltage
    signal_strength     dBm          *.Signal *.RSSI
    signal_quality      %            Wifi.RSSI
    own-diagnostic      -            Wifi.AP Wifi.Channel Wifi.LinkCount
    uptime              s            UptimeSec
    free_memory         kB           Heap ESP32.Heap
    own-diagnostic      V            Vcc
    own-diagnostic      -            LoadAvg Sleep MqttCount
    own-diagnostic      kB           Berry.HeapUsed
    own-diagnostic      -            Berry.Objects
    power_state         -            POWER
    input_state         -            Switch
    brightness          %            Dimmer
    color_temperature   mired        CT
    color               -            HSBColor
    own                 %            White
    own-setting         -            Fade Speed Scheme LedTable
    fan_speed           -            FanSpeed
    position            %            Shutter.Position
    tilt_position       -            Shutter.Tilt
    own                 -            Shutter.Direction
    own-setting         %            Shutter.Target
    action              -            Button.Action Switch.Action
    temperature         °C           ZbReceived.Temperature
    humidity            %RH          ZbReceived.Humidity
    atmospheric_pressure hPa         ZbReceived.Pressure
    sea_level_pressure  hPa          ZbReceived.SeaPressure
    illuminance         lx           ZbReceived.Illuminance
    occupancy           -            ZbReceived.Occupancy
    battery_voltage     V            ZbReceived.Voltage ZbReceived.BatteryVoltage
    battery             %            ZbReceived.Battery ZbReceived.BatteryPercentage
    link_quality        -            ZbReceived.LinkQuality
    power_state         -            ZbReceived.Power
    power               W            ZbReceived.ActivePower
    brightness          -            ZbReceived.Dimmer
    """
)
_TEMPERATURES = {"C": "°C", "F": "°F"}
_DEFAULTS = {"TempUnit": "°C", "PressureUnit": "hPa", "SpeedUnit": None}
"""What is meant where a message does not tell; anemometers always tell."""

_OF_A_SCRIPT = re.compile(
    r"Total_(in|out)|Power_curr?|Volt_p[1-3]|(power|voltage|current)_l[1-3]", re.ASCII
)
"""Names that the script of a meter gives, by custom."""

ZIGBEE = "ZbReceived"
_NUMBER = re.compile(r"[-_][0-9A-Fa-fx]{1,16}$")
_NUMBERED = re.compile(r"(Shutter|Button|Switch|POWER|SHUTTER)[0-9]{1,2}")
_TEXTS = frozenset({"HSBColor", "Button.Action", "Switch.Action"})
_BITS = frozenset({"ZbReceived.Power", "ZbReceived.Occupancy"})


@dataclass(frozen=True, slots=True)
class UnitRule:
    """A unit that is always the same, as a QUDT unit IRI, or the member that tells it."""

    iri: str | None
    teller: str = ""

    def of(self, document: Json) -> str | None:
        """The unit in a message; None where there is none, or an unknown one."""
        if not self.teller:
            return self.iri
        symbol = _told(document, self.teller)
        return unit_iri(symbol) if symbol else None


def unit_rule(steps: Sequence[str]) -> UnitRule:
    """How the unit of the values at a path is known; that of a script only by the mapping."""
    if question_of(steps):
        return UnitRule(None)
    symbol = _TABLE.unit(_name(steps))
    if symbol in _DEFAULTS:
        return UnitRule(None, symbol or "")
    return UnitRule(unit_iri(symbol) if symbol else None)


def unit_symbol(document: Json, steps: Sequence[str]) -> str | None:
    """The symbol of the unit of the value at a path of a message; None where it has none."""
    symbol = _TABLE.unit(_name(steps))
    return _told(document, symbol) if symbol in _DEFAULTS else symbol


def meaning_of(steps: Sequence[str], told: Told) -> Meaning:
    """What the value at a path is."""
    name = _name(steps)
    if name in _BITS:
        told = Told(told.unit, Shape.TRUTH, told.kind)
    symbol = _TABLE.unit(name)
    if symbol in _DEFAULTS and told.unit is None:
        told = Told(_DEFAULTS[symbol or ""] or "m/s", told.shape, told.kind)
    word = ".".join(steps[1:]) if len(steps) == 3 and steps[0] != ZIGBEE else steps[-1]
    return _TABLE.meaning(name, told, word)


def question_of(steps: Sequence[str]) -> str:
    """What to ask though the value is known; empty for nothing."""
    if len(steps) == 2 and _OF_A_SCRIPT.fullmatch(steps[1]) and _name(steps) in _TABLE:
        return f"Does the meter's script count in {_TABLE.unit(_name(steps))}, as most do?"
    return ""


def is_text(steps: Sequence[str]) -> bool:
    """Whether a word at this path is worth something, beside ON and OFF."""
    return _name(steps) in _TEXTS


def is_bit(steps: Sequence[str]) -> bool:
    """Whether 1 and 0 stand for true and false."""
    return _name(steps) in _BITS


def truth_words(steps: Sequence[str], meaning: Meaning) -> tuple[str, str]:
    """The words for true and false, where they do not read so by themselves."""
    is_truth = meaning.is_known and VOCABULARY[meaning.name].shape is Shape.TRUTH
    return ("1", "0") if is_truth and is_bit(steps) else ("", "")


def _name(steps: Sequence[str]) -> str:
    """The name in the table for a path, arrays without their index."""
    if not steps:
        return ""
    if steps[0] == ZIGBEE:
        return f"{ZIGBEE}.{steps[-1]}"
    driver, rest = _driver(steps[0]), ".".join(steps[1:])
    own = f"{driver}.{rest}" if rest else driver
    for name in (own, f"*.{rest}", f"*.{steps[-1]}"):
        if name in _TABLE:
            return name
    return own


def _driver(step: str) -> str:
    """A driver without the number or address that tells it from others of its kind."""
    numbered = _NUMBERED.fullmatch(step)
    if numbered:
        return "Shutter" if numbered[1] == "SHUTTER" else numbered[1]
    plain = step if step in {"RG-15"} else _NUMBER.sub("", step)
    return plain or step


def _told(document: Json, teller: str) -> str | None:
    told = document.get(teller) if isinstance(document, Mapping) else None
    if not isinstance(told, str):
        return _DEFAULTS[teller]
    return _TEMPERATURES.get(told, told) if teller == "TempUnit" else told
