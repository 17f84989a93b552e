"""The family "tasmota": telemetry, states, and the devices' own discovery messages."""

from adapters.adapter import Format
from adapters.formats.tasmota.discovery import propose
from adapters.formats.tasmota.telemetry import TasmotaAdapter, companions

FORMAT = Format(
    TasmotaAdapter,
    names=True,
    companions=companions,
    propose=propose,
    announcements=("tasmota/discovery/+/config", "tasmota/discovery/+/sensors"),
    alone=(
        "tele/+/LWT",
        "tele/+/INFO1",
        "tele/+/INFO2",
        "tele/+/INFO3",
        "stat/+/RESULT",
        "cmnd/+/+",
    ),
)
