"""`Throttle`: how often somebody may fail to log in before they have to wait.

Place: asked before a secret is verified, told how it ended. A failure costs one of `failures`
chances, which come back evenly over `window_s` (a leaking bucket for each key).
"""

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from gateway.errors import TooManyRequestsError

_KEYS = 10_000
_ROUNDING_S = 1e-6


@dataclass(frozen=True, slots=True)
class ThrottleLimits:
    """Failures that one address, and one identity from wherever, may have at once."""

    address_failures: int = 20
    identity_failures: int = 10
    window_s: float = 60.0


class Throttle:
    """Counts failures by address and by identity; remembers the last 10,000 of them.

    >>> throttle = Throttle(lambda: 0.0, ThrottleLimits(identity_failures=1))
    >>> throttle.attempt("192.0.2.1", "lamp")
    >>> throttle.attempt("192.0.2.2", "lamp")
    Traceback (most recent call last):
    gateway.errors.TooManyRequestsError: too many failed logins (try again in 60 s)
    """

    def __init__(self, clock: Callable[[], float], limits: ThrottleLimits | None = None) -> None:
        self._clock = clock
        self._limits = limits or ThrottleLimits()
        self._empty_at: OrderedDict[tuple[str, str], float] = OrderedDict()

    def attempt(self, address: str, identity: str) -> None:
        """Count a login as failed until `succeeded` is told, so that none slips in beside it.

        Raises TooManyRequestsError, with the time to wait, where too many have failed.
        """
        now = self._clock()
        keys = self._keys(address, identity)
        wait_s = max(self._wait_s(key, most, now) for key, most in keys)
        if wait_s > 0:
            raise TooManyRequestsError("too many failed logins", wait_s)
        for key, most in keys:
            empty_at = max(now, self._empty_at.pop(key, now))
            self._empty_at[key] = empty_at + self._limits.window_s / most
        while len(self._empty_at) > _KEYS:
            self._empty_at.popitem(last=False)

    def succeeded(self, address: str, identity: str) -> None:
        """Take back an attempt that turned out to be no failure."""
        for key, most in self._keys(address, identity):
            if key in self._empty_at:
                self._empty_at[key] -= self._limits.window_s / most

    def _wait_s(self, key: tuple[str, str], most: int, now: float) -> int:
        """Whole seconds until one more failure fits into the window."""
        chance_s = self._limits.window_s / most
        wait_s = self._empty_at.get(key, now) + chance_s - self._limits.window_s - now
        return math.ceil(wait_s - _ROUNDING_S)

    def _keys(self, address: str, identity: str) -> tuple[tuple[tuple[str, str], int], ...]:
        return (
            (("address", network_of(address)), self._limits.address_failures),
            (("identity", identity[:256]), self._limits.identity_failures),
        )


def network_of(address: str) -> str:
    """A host's address; of IPv6 the /64 that one host has at its disposal."""
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, IPv6Address):
        mapped = ip.ipv4_mapped
        return str(mapped) if mapped else str(IPv6Address(int(ip) >> 64 << 64))
    return str(ip)
