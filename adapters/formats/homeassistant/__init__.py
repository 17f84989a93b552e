"""The family "homeassistant": whoever announces itself by Home Assistant's MQTT discovery."""

from adapters.adapter import Format, stateless
from adapters.formats.homeassistant.discovery import propose
from adapters.formats.homeassistant.keys import COMPONENTS
from adapters.formats.homeassistant.states import HomeAssistantAdapter

FORMAT = Format(
    stateless(HomeAssistantAdapter),
    propose=propose,
    announcements=tuple(
        f"+/{component}/{name}/config"
        for component in sorted({"device", *COMPONENTS})
        for name in ("+", "+/+")
    ),
)
