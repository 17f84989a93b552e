"""Serial lines for the gateway's unit, where a bus of [modbus] is one and nowhere else.

The unit as it is packaged reaches no device. What opens serial ports to it is a drop-in that the
package brings aside; a link to it puts it into force. Source: systemd.unit(5), "drop-in"
"""

from pathlib import Path

from gateway.config.settings import Config
from gateway.runtime.durable_files import sync_folder

LINK = "etc/sosa-gateway.service.d/serial.conf"
"""Below the folder of data, to which the unit's folder of drop-ins leads on an image."""

DROP_IN = "/usr/share/sosa-gateway/serial.conf"


def has_serial_line(config: Config) -> bool:
    """Whether any bus is a line (RTU), not a host."""
    return any(bus.is_serial for bus in config.modbus.buses)


def allow_serial_lines(data: Path, *, wanted: bool) -> None:
    """Put the link there or take it away. Raises OSError."""
    link = data / LINK
    if link.is_symlink() == wanted:
        return
    if wanted:
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(DROP_IN)
    else:
        link.unlink()
    sync_folder(link.parent)
