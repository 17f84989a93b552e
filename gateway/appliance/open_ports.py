"""The ports that an appliance's firewall opens: those at which its gateway serves the network.

    settings -> ports -> lines that nft(8) takes; the image's /etc/nftables.conf has the set

Whatever else listens stays closed to the network, and what the gateway serves to this machine alone
as well. Sources: nft(8), "Sets".
"""

import ipaddress
from collections.abc import Iterator

from gateway.config.settings import Config
from gateway.federation.membership.places import ANYWHERE_HOST, PORT, Place

FILE = "etc/nftables/ports.nft"
"""Below the folder of data."""

_LAST = 65_535


def open_ports(config: Config) -> list[int]:
    """In order; 0, which is any free port, is left out: nobody could know it.

    So is what is no port: nft takes all of the file or nothing.
    """
    served = {port for host, port in _served(config) if not _is_own_machine(host)}
    return sorted(port for port in served if 0 < port <= _LAST)


def firewall_rules(ports: list[int]) -> str:
    """What makes these ports the open ones, in place of any before."""
    lines = ["flush set inet filter ports"]
    if ports:
        lines.append(f"add element inet filter ports {{ {', '.join(map(str, ports))} }}")
    return "\n".join([*lines, ""])


def _served(config: Config) -> Iterator[tuple[str, int]]:
    yield config.http.host, config.http_port
    if not config.shared_port:
        yield config.http.host, config.websocket_port
    if config.mqtt.mode != "external":
        yield config.mqtt.host, config.mqtt_port
        yield config.mqtt.host, config.mqtt_websocket_port or 0
    if config.federation.via:
        members = Place.parse(config.federation.listen or ANYWHERE_HOST, PORT)
        yield members
        yield members.host, config.federation.join_port


def _is_own_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
