"""What whole names mean that many makers use alike: a hint for messages without announcements.

Place on the way: unknown messages, and families that say no more of a member than its name, look
here after their own tables. Case and separators do not matter; a part of a name means nothing:
`soil_temp` is known because it stands here, `valve_temp` is not known.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from adapters.values.meaning import NOTHING, Meaning, Told, named, own
from adapters.values.numbers.unit_suffix import suffixed
from adapters.values.properties import VOCABULARY, Shape
from adapters.values.units import unit_iri

# Term of the vocabulary, symbol of the unit that is meant where none is told, words for it.
_TABLE = """
temperature        °C     temperature temp tempc tc airtemperature airtemp
temperature        °C     ambienttemperature ambienttemp roomtemperature
dew_point          °C     dewpoint dewpointtemperature
apparent_temperature °C   heatindex feelslike windchill apparenttemperature
soil_temperature   °C     soiltemperature soiltemp tempsoil temperaturesoil
water_temperature  °C     watertemperature watertemp
outdoor_temperature °C    outdoortemperature outdoortemp outsidetemperature
device_temperature °C     devicetemperature chiptemperature cputemperature boardtemperature
humidity           %RH    humidity hum rh relativehumidity airhumidity
absolute_humidity  g/m³   absolutehumidity
soil_moisture      %      soilmoisture moisturesoil watersoil
moisture           %      moisture
conductivity       µS/cm  conductivity ec soilconductivity soilec conductsoil
ph                 pH     ph
atmospheric_pressure hPa  pressure pres airpressure atmosphericpressure barometricpressure barometer
sea_level_pressure hPa    seapressure sealevelpressure pressuresealevel
illuminance        lx     illuminance lux light lightlevel
irradiance         W/m²   irradiance solarradiation
uv_index           1      uvindex uvi
sound_pressure     dB     sound soundlevel soundpressure noise noiselevel
wind_speed         m/s    windspeed windavg windspeedavg windaverage avgwindspeed
wind_gust          m/s    windgust windgustspeed windmax maxwindspeed
wind_direction     °      winddirection winddir windbearing windheading
precipitation      mm     rain rainfall precipitation
carbon_dioxide     ppm    co2 carbondioxide co2ppm co2concentration
carbon_monoxide|carbon_monoxide_detected ppm  co carbonmonoxide
volatile_organic_compounds|volatile_organic_compounds_parts ppb tvoc voc
pm1                µg/m³  pm1 pm1p0
pm25               µg/m³  pm25 pm2p5
pm4                µg/m³  pm4
pm10               µg/m³  pm10
formaldehyde       mg/m³  hcho formaldehyde
ozone              µg/m³  o3 ozone
nitrogen_dioxide   µg/m³  no2
power              W      power activepower powerw currentpower actualpower totalpower
power              W      instantpower instantaneouspower powernow
apparent_power     VA     apparentpower
reactive_power     var    reactivepower
power_factor       1      powerfactor pf
voltage            V      voltage volts
current            A      current amps
frequency          Hz     frequency freq
energy             kWh    energy totalenergy energytotal energyimported importedenergy
exported_energy    kWh    energyexported exportedenergy returnedenergy energyreturned
exported_energy    kWh    producedenergy energyproduced
water              m³     waterconsumed waterconsumption watermeter
gas                m³     gasconsumed gasconsumption gasmeter
volume_flow_rate   L/min  flowrate waterflow waterflowrate
liquid_level       m      waterlevel liquidlevel
fill_level         %      filllevel
weight             kg     weight
distance           m      distance
latitude           °      latitude lat
longitude          °      longitude lon lng
altitude           m      altitude alt elevation
speed              m/s    speed
heading            °      heading
rotational_speed   rpm    rpm rotationalspeed
precipitation_intensity mm/h rainrate rainintensity precipitationintensity
leaf_wetness       %      leafwetness
sulphur_dioxide    µg/m³  so2
ammonia            µg/m³  nh3 ammonia
radon              Bq/m³  radon
air_quality_index  1      aqi airqualityindex
voc_index          1      vocindex
heart_rate         bpm    heartrate
reactive_energy    kvarh  reactiveenergy
set_point          °C     setpoint targettemperature
people_count       -      peoplecount
pulse_count        -      pulsecount pulses
battery            %      battery batt batterylevel batterypercent batterypercentage
battery            %      batterylevelpercent soc stateofcharge
battery_voltage    V      batteryvoltage batteryvolts batv vbat vbatt batteryv voltbat
signal_strength    dBm    rssi signalstrength wifirssi
signal_to_noise    dB     snr lorasnr
link_quality       -      linkquality lqi
uptime             s      uptime uptimesec
battery_low        -      batterylow lowbattery
motion             -      motion pir motiondetected
occupancy          -      occupancy occupied
presence           -      presence
opening            -      opening open door dooropen windowopen doorstate
vibration          -      vibration
water_leak         -      waterleak leak
smoke              -      smoke
gas_detected       -      gasdetected gasalarm
tamper             -      tamper tampered
locked             -      locked
rain               -      raining
power_state        -      relay relaystate switchstate
"""

_PRESSURES = frozenset({"pressure", "pres"})
_OF_PIPES = frozenset(map(unit_iri, ("bar", "psi", "MPa")))
"""Units in which nobody tells the pressure of the air."""

_NOT_WORD = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 64


class Usual(NamedTuple):
    """A meaning, and the symbol of the unit that is usual; None where there is none."""

    meaning: Meaning
    unit: str | None = None


def _rows() -> Mapping[str, tuple[str, str | None]]:
    words = {}
    for line in _TABLE.strip().splitlines():
        choice, symbol, *names = line.split()
        for name in names:
            words[name] = (choice, None if symbol == "-" else symbol)
    return words


_USUAL = _rows()


def usual(name: str, told: Told = NOTHING) -> Usual:
    """What the whole `name` mostly means, unless the device tells what contradicts.

    A name that stands nowhere may have its unit behind it.

    >>> usual("Soil_Temp").meaning.name, usual("color_temp").meaning.is_known
    ('soil_temperature', False)
    >>> usual("temperature_F").meaning.name, usual("total_kwh").unit, usual("voltage_a").unit
    ('temperature', 'kWh', None)
    """
    plain = plain_word(name)
    known = _USUAL.get(plain)
    if known is None:
        return _with_suffix(name, told)
    choice, symbol = known
    if plain in _PRESSURES and told.unit and unit_iri(told.unit) in _OF_PIPES:
        choice = "pressure"
    found = named(choice, name, told)
    is_number = found.is_known and VOCABULARY[found.name].shape is Shape.NUMBER
    return Usual(found, symbol if is_number and told.unit is None else None)


def _with_suffix(name: str, told: Told) -> Usual:
    """By the unit behind a name, where what is before it may have one or it can be nothing else."""
    if told.shape not in {None, Shape.NUMBER}:
        return Usual(own(name, told))
    for base, symbol, is_certain in suffixed(name):
        if told.unit is not None and unit_iri(told.unit) != unit_iri(symbol):
            continue
        so_told, unit = replace(told, unit=symbol), symbol if told.unit is None else None
        choice = _choice(plain_word(base), symbol)
        found = named(choice, name, so_told) if choice else own(name, so_told)
        if found.is_known or (not choice and is_certain):
            return Usual(found, unit)
    return Usual(own(name, told))


def _choice(plain: str, symbol: str) -> str:
    """Terms that a name before a unit may mean; empty where it is none that is known."""
    if plain in _PRESSURES and unit_iri(symbol) in _OF_PIPES:
        return "pressure"
    if plain in _OF_ANYTHING:
        return _BY_UNIT.get(symbol, "")
    choice = _USUAL.get(plain, ("", None))[0] or _WITH_A_UNIT.get(plain, "")
    return _BESIDE.get(choice, choice)


def plain_word(name: str) -> str:
    """A name in small letters, without what separates its parts.

    >>> plain_word("Soil_Temp")
    'soiltemp'
    """
    return _NOT_WORD.sub("", name[:_LONGEST_NAME].lower())


_BESIDE = {
    "battery": "battery|battery_voltage",
    "precipitation": "precipitation|precipitation_intensity",
}
"""What else a word is where its unit says so."""

_WITH_A_UNIT = {
    "gas": "gas",
    "water": "water",
    "flow": "volume_flow_rate|temperature",
    "return": "temperature",
    "level": "fill_level|liquid_level",
    "wind": "wind_speed",
    "gust": "wind_gust",
    "heat": "heat_energy",
    **dict.fromkeys(("import", "imported", "consumed", "consumption"), "energy"),
    **dict.fromkeys(("export", "exported", "returned", "produced"), "exported_energy"),
}
"""Words that mean something only because of the unit behind them: gas in m³ is no raw number."""

_OF_ANYTHING = frozenset({"value", "val", "reading", "measurement", "total", "sum", "counter"})
_BY_UNIT = {
    **dict.fromkeys(("°C", "°F"), "temperature"),
    "%RH": "humidity",
    **dict.fromkeys(("hPa", "mbar"), "atmospheric_pressure"),
    **dict.fromkeys(("W", "kW", "mW", "MW"), "power"),
    **dict.fromkeys(("Wh", "kWh", "MWh"), "energy"),
    **dict.fromkeys(("V", "mV", "kV"), "voltage"),
    **dict.fromkeys(("A", "mA"), "current"),
    **dict.fromkeys(("Hz", "kHz"), "frequency"),
    "lx": "illuminance",
}
"""What a unit can only be of, where the name before it says nothing."""
