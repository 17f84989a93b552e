"""The table of payload formats and device families; each is one module of adapters.formats.

Place on the way: adapters.registry compiles mappings with it, adapters.discovery asks it who
understands an unknown message, the more particular family first.
"""

from adapters.adapter import Format, stateless
from adapters.formats import (
    binary_documents,
    bytes_fields,
    chirpstack,
    csv_rows,
    esphome,
    fiware,
    homeassistant,
    homie,
    json_path,
    line_protocol,
    modbus,
    ruuvi,
    scalar,
    senml,
    sensorthings,
    shelly,
    shelly_gen1,
    sparkplug,
    tasmota,
    theengs,
    ttn,
    zigbee2mqtt,
)
from adapters.formats.text import TextAdapter

FORMATS: dict[str, Format] = {
    "sparkplug": sparkplug.FORMAT,
    "chirpstack": chirpstack.FORMAT,
    "ttn": ttn.FORMAT,
    "ruuvi": ruuvi.FORMAT,
    "theengs": theengs.FORMAT,
    "fiware": fiware.FORMAT,
    "ultralight": fiware.ULTRALIGHT,
    "ngsi": fiware.NGSI,
    "sensorthings": sensorthings.FORMAT,
    "zigbee2mqtt": zigbee2mqtt.FORMAT,
    "tasmota": tasmota.FORMAT,
    "senml": senml.FORMAT,
    "shelly": shelly.FORMAT,
    "shelly_gen1": shelly_gen1.FORMAT,
    "homeassistant": homeassistant.FORMAT,
    "esphome": esphome.FORMAT,
    "homie": homie.FORMAT,
    "modbus": modbus.FORMAT,
    "json": json_path.FORMAT,
    "msgpack": binary_documents.MSGPACK,
    "cbor": binary_documents.CBOR,
    "influx": line_protocol.FORMAT,
    "csv": csv_rows.FORMAT,
    "bytes": bytes_fields.BYTES,
    "hex": bytes_fields.HEX,
    "scalar": scalar.FORMAT,
    "text": Format(stateless(TextAdapter), written=True),
}
"""Every format by the name that a mapping gives it, in the order in which discovery asks them."""
