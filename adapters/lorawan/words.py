"""What codecs of LoRaWAN devices call their values: those of vendors, and what codecs mostly say.

Place on the way: discovery of the network servers. The schema of normalized payloads is certain;
the names of a codec that somebody wrote are a hint, and a person is asked.
Sources: payload schema of The Things Network's device repository; the vendors' decoders there
(Milesight, Dragino, Elsys); Cayenne LPP.
"""

import re
from collections.abc import Sequence

from adapters.values.meaning import Meaning, Told, WordTable, own
from adapters.values.payload import Json
from adapters.values.properties import VOCABULARY, Shape
from adapters.values.result import JsonNumber
from adapters.values.usual_words import usual

NORMALIZED = WordTable.of(
    """
    temperature         Cel    air.temperature
    humidity            %RH    air.relativeHumidity
    atmospheric_pressure hPa   air.pressure
    carbon_dioxide      ppm    air.co2
    illuminance         lx     air.lightIntensity
    battery_voltage     V      battery
    precipitation_intensity mm/h rain.intensity
    precipitation       mm     rain.cumulative
    own                 cm     soil.depth
    soil_moisture       %      soil.moisture
    soil_temperature    Cel    soil.temperature
    conductivity        dS/m   soil.ec
    ph                  pH     soil.pH
    own                 ppm    soil.n soil.p soil.k
    water_temperature   Cel    water.temperature.min water.temperature.max
    water_temperature   Cel    water.temperature.avg water.temperature.current
    water_leak          -      water.leak
    water               l      metering.water.total
    wind_speed          m/s    wind.speed
    wind_direction      deg    wind.direction
    motion              -      action.motion.detected
    own                 1      action.motion.count
    opening             -      action.contactState
    latitude            deg    position.latitude
    longitude           deg    position.longitude
    """
)
"""The schema of normalized_payload, by dotted names: units are fixed."""

_CODECS = WordTable.of(
    """
    temperature         Cel    TempC_SHT TempC_DS TempC_DS18B20 TempC_SHT41 temp_DS18B20 TempC1
    temperature         Cel    externalTemperature externalTemperature2
    own                 Cel    irInternalTemperature irExternalTemperature
    humidity            %RH    Hum_SHT Hum_SHT41 externalHumidity relative_humidity
    soil_moisture       %      water_SOIL soil_moisture
    soil_temperature    Cel    temp_SOIL soil_temperature
    conductivity        uS/cm  conduct_SOIL
    illuminance         lx     illumination luminosity ILL_lux ILL_lx light
    atmospheric_pressure hPa   barometric_pressure
    volatile_organic_compounds_parts ppb tvoc
    air_quality_index   1      iaq
    pm25                ug/m3  pm2_5
    formaldehyde        mg/m3  hcho
    sound_pressure      dB     soundPeak soundAvg
    battery_voltage     V      BatV Bat_V BAT_V battery_voltage
    battery_voltage     mV     vdd Bat_mV
    battery_voltage     V      Volt
    temperature         Cel    Temp
    humidity            %RH    Humi
    power               W      active_power
    energy              Wh     power_consumption
    battery_state       -      Bat_status
    battery_low         -      low_battery
    temperature         Cel    temperature_1 temperature_2
    pulse_count         -      counter_a counter_b counter_c counter_d
    occupancy           -      presence_now
    own                 Pa     delta_pressure
    own                 -      contact_a contact_b contact_c contact_d
    voltage             V      ADC_V
    voltage             mV     analog1 analog2
    voltage             uV     analogUv
    acceleration        gn     accelerometer_x accelerometer_y accelerometer_z
    own                 -      gyrometer_x gyrometer_y gyrometer_z
    latitude            deg    lat latitude
    longitude           deg    long longitude
    altitude            m      gps_altitude altitude
    distance            mm     distance
    pulse_count         -      pulseAbs pulseAbs2 Exit_count
    own                 -      pulse1 pulse2
    opening             -      DOOR_OPEN_STATUS door_status magnet_status contact_status door
    own                 min    LAST_DOOR_OPEN_DURATION LAST_WATER_LEAK_DURATION
    water_leak          -      WATER_LEAK_STATUS leakage_status water_leak
    occupancy           -      pir_status
    motion              -      pir
    tilted              -      tilt
    tamper              -      tamper_status
    input_state         -      digital_in Exti_pin_level
    power_state         -      switch socket_status
    own                 -      light_level tvoc_level install
    presence            -      presence
    own                 %      percentage
    own                 ppm    concentration
    own                 deg    direction
    own                 -      generic analog_in analog_out digital_out activity
    own                 -      accMotion infrared infrared_and_visible x y z
    """
)
_CHANNEL = re.compile(r"_?[0-9]{1,3}$")
_GROUPS = frozenset(
    {"gps", "accelerometer", "gyrometer", "location", "air", "soil", "data", "payload"}
)
"""Members that only hold together what is in them."""

_OPPOSITES = {
    "opening": (("open", "close"), ("opened", "closed")),
    "tilted": (("tilt", "normal"),),
    "motion": (("trigger", "idle"), ("trigger", "normal")),
    "water_leak": (("leak", "normal"),),
    "occupancy": (("trigger", "idle"), ("occupied", "vacant")),
    "tamper": (("uninstalled", "installed"),),
}
"""The words that decoders have for true and false, by what they are said of."""

_MOST_VOLTS, _LEAST_MILLIVOLTS = 5, 1000


def codec_unit(name: str) -> str | None:
    """The usual unit of what a codec calls `name`, dots between its members."""
    word = _word(name)
    return _CODECS.unit(word) if word in _CODECS else usual(word).unit if word else None


def codec_meaning(name: str, unit: str | None, value: Json) -> Meaning:
    """What a codec's value is."""
    word, told = _word(name), Told(unit, _shape(value))
    if not word:
        return own(name, told)
    if word in _CODECS:
        return _CODECS.meaning(word, _as_truth(_CODECS.words[word].choice, value, told), name)
    found = usual(word, told).meaning
    return found if found.is_known else own(name, told)


def battery_unit(value: Json) -> str | None:
    """In which unit a bare `battery` is, by its size: volts have a point, mV four digits."""
    if type(value) is not JsonNumber:
        return None
    number = float(value)
    if "." in value and 1 < number < _MOST_VOLTS:
        return "V"
    return "%" if number <= 100 else "mV" if number >= _LEAST_MILLIVOLTS else None


def truth_words(meaning: Meaning, value: Json) -> tuple[str, str]:
    """The words for true and false, where they do not read so by themselves."""
    if not meaning.is_known or VOCABULARY[meaning.name].shape is not Shape.TRUTH:
        return "", ""
    if type(value) is JsonNumber:
        return "1", "0"
    return _opposites(meaning.name, value)


def _opposites(term: str, value: Json) -> tuple[str, str]:
    """The pair of words that a text is one of, empty where it is of none."""
    text = value.lower() if isinstance(value, str) else ""
    return next((pair for pair in _OPPOSITES.get(term, ()) if text in pair), ("", ""))


def _shape(value: Json) -> Shape:
    if isinstance(value, bool):
        return Shape.TRUTH
    return Shape.NUMBER if type(value) is JsonNumber else Shape.WORD


def _as_truth(choice: str, value: Json, told: Told) -> Told:
    """A 0 or 1, and a word that has an opposite, are truth values where the name says so."""
    is_truth = choice in VOCABULARY and VOCABULARY[choice].shape is Shape.TRUTH
    is_bit = type(value) is JsonNumber and value in {"0", "1"}
    if is_truth and (is_bit or any(_opposites(choice, value))):
        return Told(told.unit, Shape.TRUTH, told.kind)
    return told


def _word(name: str) -> str:
    """The name by which a value is known: without its group and channel; empty where it is deep."""
    steps: Sequence[str] = name.split(".")
    if len(steps) == 2 and _CHANNEL.sub("", steps[0]) in _GROUPS:
        group, last = _CHANNEL.sub("", steps[0]), steps[1]
        return f"{group}_{last}" if f"{group}_{last}" in _CODECS else last
    if len(steps) != 1:
        return ""
    return name if name in _CODECS or usual(name).meaning.is_known else _CHANNEL.sub("", name)
