"""Networks of their own for programs of a test, and a cable between two that can be pulled: root's.

Source: network_namespaces(7), ip-netns(8), setns(2).
"""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

_CLONE_NEWNET = 0x40000000


class Namespace:
    """A network with a loopback interface; commands behind `prefix` run in it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.prefix = ("ip", "netns", "exec", name)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Have this thread open its sockets there."""
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(Path("/run/netns", self.name), os.O_RDONLY)
        try:
            _enter(there)
            yield
        finally:
            _enter(own)
            os.close(there)
            os.close(own)


class Cable:
    """Two networks, `ends`, and what is between; `hosts` are the addresses of its two plugs."""

    hosts = ("10.77.0.1", "10.77.0.2")

    def __init__(self, ends: tuple[Namespace, Namespace]) -> None:
        self.ends = ends

    def pull(self) -> None:
        """Nothing comes any more, either way, and both interfaces know."""
        for each in self.ends:
            _ip("-n", each.name, "link", "set", "cable", "down")

    def plug(self) -> None:
        """Have it back."""
        for each in self.ends:
            _ip("-n", each.name, "link", "set", "cable", "up")


@contextmanager
def cabled() -> Iterator[Cable]:
    """Two networks; the test is skipped where this user, or this machine, may not make them."""
    if os.geteuid() != 0:
        pytest.skip("only root makes networks")
    one, other = (Namespace(f"sosa-{os.getpid()}-{number}") for number in (1, 2))
    with ExitStack() as stack:
        try:
            for each in (one, other):
                _ip("netns", "add", each.name)
                stack.callback(_ip, "netns", "del", each.name)
            names = ("name", "cable", "netns", one.name)
            _ip("link", "add", *names, "type", "veth", "peer", "name", "cable", "netns", other.name)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no networks can be made here: {getattr(error, 'stderr', error)}")
        cable = Cable((one, other))
        for each, host in zip(cable.ends, cable.hosts, strict=True):
            _ip("-n", each.name, "address", "add", f"{host}/24", "dev", "cable")
            _ip("-n", each.name, "link", "set", "lo", "up")
        cable.plug()
        yield cable


def _ip(*words: str) -> None:
    subprocess.run(("ip", *words), check=True, capture_output=True, text=True)


def _enter(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
