"""What whole names mean that many makers use alike: a hint for messages without announcements.

Place on the way: unknown messages, and families that say no more of a member than its name, look
here after their own tables. Case and separators do not matter; a part of a name means nothing:
`soil_temp` is known because it stands here, `valve_temp` is not known.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from adapters.values.meaning import NOTHING, Meaning, Told, named, own
from adapters.values.properties import VOCABULARY, Shape

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
wind_speed         m/s    windspeed
wind_gust          m/s    windgust windgustspeed
wind_direction     °      winddirection winddir
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
power              W      power activepower powerw
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
liquid_level       m      waterlevel liquidlevel
fill_level         %      filllevel
weight             kg     weight
distance           m      distance
latitude           °      latitude lat
longitude          °      longitude lon lng
altitude           m      altitude
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
_OF_PIPES = frozenset({"bar", "psi", "MPa"})
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

    >>> usual("Soil_Temp").meaning.name, usual("color_temp").meaning.is_known
    ('soil_temperature', False)
    """
    plain = _NOT_WORD.sub("", name[:_LONGEST_NAME].lower())
    known = _USUAL.get(plain)
    if known is None:
        return Usual(own(name, told))
    choice, symbol = known
    if plain in _PRESSURES and told.unit in _OF_PIPES:
        choice = "pressure"
    found = named(choice, name, told)
    is_number = found.is_known and VOCABULARY[found.name].shape is Shape.NUMBER
    return Usual(found, symbol if is_number and told.unit is None else None)
