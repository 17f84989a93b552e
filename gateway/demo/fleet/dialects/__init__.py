"""The dialects of the fleet: one class a kind of device, every format that comes by MQTT."""

from gateway.demo.fleet.device import Device
from gateway.demo.fleet.dialects.announced import Esphome, HomeAssistant, Homie4, Homie5
from gateway.demo.fleet.dialects.bluetooth import Ruuvi, Theengs
from gateway.demo.fleet.dialects.household import Tasmota, Zigbee, ZigbeeAnnounced
from gateway.demo.fleet.dialects.loggers import (
    BytesLogger,
    CborLogger,
    CsvLogger,
    FiwareLogger,
    HexLogger,
    InfluxLogger,
    JsonLogger,
    MsgpackLogger,
    NgsiLogger,
    SensorThingsLogger,
    TextLogger,
    UltralightLogger,
)
from gateway.demo.fleet.dialects.lorawan import ChirpStack, Ttn
from gateway.demo.fleet.dialects.plain import Scalar
from gateway.demo.fleet.dialects.senml import SenmlCbor, SenmlJson
from gateway.demo.fleet.dialects.shelly import Shelly, ShellyGen1
from gateway.demo.fleet.dialects.sparkplug import SparkplugNode

DIALECTS: tuple[type[Device], ...] = (
    Zigbee,
    ZigbeeAnnounced,
    Tasmota,
    Shelly,
    ShellyGen1,
    Esphome,
    HomeAssistant,
    Homie4,
    Homie5,
    ChirpStack,
    Ttn,
    SenmlJson,
    SenmlCbor,
    SparkplugNode,
    Ruuvi,
    Theengs,
    FiwareLogger,
    SensorThingsLogger,
    Scalar,
    JsonLogger,
    CborLogger,
    MsgpackLogger,
    CsvLogger,
    BytesLogger,
    HexLogger,
    TextLogger,
    UltralightLogger,
    NgsiLogger,
    InfluxLogger,
)


def devices(count: int, seed: int) -> list[Device]:
    """So many devices, every dialect in turn."""
    kinds = len(DIALECTS)
    fleet = [DIALECTS[number % kinds](number // kinds, seed) for number in range(count)]
    for device in fleet:
        device.meet(fleet)
    return fleet
