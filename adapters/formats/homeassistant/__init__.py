"""The family "homeassistant": whoever announces itself by Home Assistant's MQTT discovery."""

from adapters.adapter import Format, stateless
from adapters.formats.homeassistant.commands import encode
from adapters.formats.homeassistant.components import COMPONENTS, STATELESS
from adapters.formats.homeassistant.discovery import propose
from adapters.formats.homeassistant.states import HomeAssistantAdapter
from adapters.formats.homeassistant.template import ValueTemplate

FORMAT = Format(
    stateless(HomeAssistantAdapter),
    propose=propose,
    announcements=tuple(
        f"+/{component}/{name}/config"
        for component in sorted({"device"} | COMPONENTS | STATELESS)
        for name in ("+", "+/+")
    ),
    encode_command=encode,
    select=lambda template: ValueTemplate.compile(template).evaluate,
)
