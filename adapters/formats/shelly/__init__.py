"""The family "shelly": Shelly devices of the second generation and later, and their components."""

from adapters.adapter import Format
from adapters.formats.shelly.command import encode
from adapters.formats.shelly.discovery import propose
from adapters.formats.shelly.status import ShellyAdapter, companions

FORMAT = Format(
    ShellyAdapter,
    companions=companions,
    propose=propose,
    encode_command=encode,
    alone=("+/events/rpc", "+/+/events/rpc", "+/+/+/events/rpc"),
)
