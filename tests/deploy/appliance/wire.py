"""The other end of an emulated network cable: Ethernet frames in datagrams, on loopback alone.

Enough of IPv6, UDP and DNS to ask a link who has a name (RFC 6762), as a computer beside it would.
"""

import socket
import struct
import time
from ipaddress import IPv6Address

from tests.kit.gateways import LOOPBACK

_MDNS, _PORT, _AAAA = IPv6Address("ff02::fb"), 5353, 28
_ASKER = IPv6Address("fe80::1")
_UDP, _IPV6 = 17, 0x86DD


class Wire:
    """A cable to a machine: frames come out at port `here`, the emulator takes them at `there`."""

    def __init__(self, here: int, there: int) -> None:
        self._there = there
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((LOOPBACK, here))
        self._socket.settimeout(1)

    def close(self) -> None:
        """Give the port back."""
        self._socket.close()

    def who_has(self, name: str, timeout_s: float) -> bytes:
        """The first answer of the link that has the name; b"" where none comes in time."""
        wanted, end = encoded(name), time.monotonic() + timeout_s
        while time.monotonic() < end:
            self._socket.sendto(query(name), (LOOPBACK, self._there))
            try:
                while True:
                    answer = dns_of(self._socket.recv(65_535))
                    if answer[2:3] >= b"\x80" and wanted in answer:
                        return answer
            except TimeoutError:
                continue
        return b""


def encoded(name: str) -> bytes:
    """As DNS writes it (RFC 1035, section 3.1)."""
    labels = (bytes([len(label)]) + label.encode("ascii") for label in name.split("."))
    return b"".join(labels) + b"\0"


def query(name: str) -> bytes:
    """A frame to everybody that speaks mDNS: which address of IPv6 has the name?"""
    question = struct.pack(">6H", 0, 0, 1, 0, 0, 0) + encoded(name) + struct.pack(">2H", _AAAA, 1)
    length = 8 + len(question)
    head = struct.pack(">3H", _PORT, _PORT, length)
    pseudo = _ASKER.packed + _MDNS.packed + struct.pack(">2I", length, _UDP)
    datagram = head + struct.pack(">H", _checksum(pseudo + head + b"\0\0" + question)) + question
    packet = struct.pack(">IHBB", 6 << 28, length, _UDP, 255) + _ASKER.packed + _MDNS.packed
    target, source = b"\x33\x33\x00\x00\x00\xfb", b"\x02\x00\x00\x00\x00\x01"
    return target + source + struct.pack(">H", _IPV6) + packet + datagram


def dns_of(frame: bytes) -> bytes:
    """What a frame says in DNS; b"" where it says something else."""
    is_ours = frame[12:14] == struct.pack(">H", _IPV6) and frame[20:21] == bytes([_UDP])
    return frame[62:] if is_ours and frame[54:56] == struct.pack(">H", _PORT) else b""


def _checksum(data: bytes) -> int:
    """The Internet's (RFC 1071)."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f">{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
