"""Files of the system as wishes want them: name, time zone, network, keys of who may log in.

A root that is read-only has links to these in the folder of data. Sources: systemd.network(5),
hostname(5), localtime(5), wpa_supplicant.conf(5); IEEE 802.11-2020, J.4.1 (passphrase to key).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.appliance.wishes import FixedAddress, Wifi, Wishes

ZONES = "/usr/share/zoneinfo"
PRIVATE, PUBLIC = 0o600, 0o644


@dataclass(frozen=True, slots=True)
class File:
    """What is to be written, and the mode."""

    text: str
    mode: int = PUBLIC


def system_files(wishes: Wishes) -> Mapping[str, File]:
    """By path below the folder of data; what nobody said anything of is not there."""
    files = {}
    if wishes.ethernet is not None:
        files["etc/network/20-wired.network"] = File(_wired(wishes.ethernet))
    if wishes.name:
        files["etc/hostname"] = File(f"{wishes.name}\n")
    if wishes.wifi is not None:
        files["etc/network/25-wireless.network"] = File(_network("wl*", "DHCP=yes") + _BY_INTERFACE)
        join = File(_wireless(wishes.wifi), PRIVATE)
        files["etc/wpa_supplicant/wpa_supplicant-wlan0.conf"] = join
    if wishes.ssh_keys:
        files["ssh/authorized_keys"] = File("".join(f"{key}\n" for key in wishes.ssh_keys), PRIVATE)
    return files


def link_timezone(data: Path, timezone: str) -> None:
    """What /etc/localtime leads to."""
    link = data / "etc" / "localtime"
    fresh = link.with_name(".localtime")
    link.parent.mkdir(parents=True, exist_ok=True)
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(f"{ZONES}/{timezone}")
    fresh.replace(link)


def _wired(fixed: FixedAddress) -> str:
    lines = [f"Address={fixed.address}"]
    lines += [f"Gateway={fixed.gateway}"] if fixed.gateway else []
    return _network("en* eth*", *lines, *(f"DNS={server}" for server in fixed.dns))


def _network(interfaces: str, *lines: str) -> str:
    """Found by NAME.local as well (mDNS, RFC 6762)."""
    match = ["[Match]", f"Name={interfaces}", ""]
    return "\n".join([*match, "[Network]", *lines, "MulticastDNS=yes", ""])


_BY_INTERFACE = "\n[DHCPv4]\nClientIdentifier=mac\n"
"""The same address after each start, whatever id the machine has before /data is there."""


def _wireless(wifi: Wifi) -> str:
    """The name as digits and the key derived: nothing of what people write is a line of its own."""
    ssid = wifi.ssid.encode()
    security = f"\tpsk={_derived(ssid, wifi.key)}" if wifi.key else "\tkey_mgmt=NONE"
    country = [f"country={wifi.country}"] if wifi.country else []
    network = ["network={", f"\tssid={ssid.hex()}", "\tscan_ssid=1", security, "}"]
    return "\n".join([*country, *network, ""])


def _derived(ssid: bytes, key: str) -> str:
    if len(key) == 64:
        return key.lower()
    return hashlib.pbkdf2_hmac("sha1", key.encode(), ssid, 4096, 32).hex()
