"""By which names and addresses the gateway is called: in Host headers, in certificates."""

import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress

from gateway.config.settings import HttpSettings, MqttSettings, is_loopback
from gateway.gates.http.origins import LOOPBACK_NAMES, Names

_PORT = re.compile(r":[0-9]+$")

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses for documentation (RFC 5737, RFC 3849): asked for a route, never sent to."""


def called_names(http: HttpSettings) -> Names:
    """The names by which the gateway is called: its own, and its addresses unless it is local."""
    return _names_at(http.host, http)


def broker_names(http: HttpSettings, mqtt: MqttSettings) -> Names:
    """The names by which MQTT over WebSocket is called: it may be bound elsewhere than HTTP."""
    return _names_at(mqtt.host, http)


def _names_at(host: str, http: HttpSettings) -> Names:
    if is_loopback(host):
        return Names(LOOPBACK_NAMES | set(http.hosts), origins=frozenset(http.origins))
    own = socket.gethostname().lower()
    hosts = LOOPBACK_NAMES | {own, f"{own}.local", host.lower(), *http.hosts}
    return Names(hosts, any_address=True, origins=frozenset(http.origins))


def server_names(http: HttpSettings, mqtt: MqttSettings) -> list[str]:
    """For a certificate: this machine's names and addresses, then those that are configured."""
    configured = (_PORT.sub("", host) for host in http.hosts)
    bound = [http.host, *([mqtt.host] if mqtt.mode != "external" else [])]
    names = [*_own_names(bound), *LOOPBACK, *configured]
    return list(dict.fromkeys(name.strip("[]").lower() for name in names))


def _own_names(bound: Sequence[str]) -> Iterator[str]:
    if all(map(is_loopback, bound)):
        return
    name = socket.gethostname()
    yield name
    if "." not in name:
        yield f"{name}.local"
    # Every address is none to be called by.
    yield from (host for host in bound if host.strip("[]") not in {"", "0.0.0.0", "::"})  # noqa: S104
    yield from _own_addresses()


def _own_addresses() -> Iterator[str]:
    """The addresses from which this machine reaches others."""
    for family, address in _ELSEWHERE:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            yield str(probe.getsockname()[0])
