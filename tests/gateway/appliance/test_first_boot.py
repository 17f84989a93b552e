"""A device set up by files on its boot partition, in folders that stand for its partitions."""

import hashlib
import os
import stat
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gateway.app.security import identities_path
from gateway.appliance import claim_code, secrets
from gateway.appliance import first_boot as module
from gateway.appliance.first_boot import Places, first_boot
from gateway.appliance.toml_text import toml_of
from gateway.cli.command import main
from gateway.config.file import load_config
from gateway.config.settings import Config
from gateway.runtime import durable_files
from gateway.security.identity import Identity, Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING

SSH_KEY = "ssh-ed25519 " + "A" * 68 + " me@home"
GOOD = f"""\
[device]
name = "Kitchen-1"
timezone = "Europe/Rome"
ssh_keys = ["{SSH_KEY}"]
claim_code = "k7pqm 4xwtd"
broker_password = "broker secret"
wifi = {{ ssid = "home \\"net\\"", password = "wifi secret", country = "IT" }}

[device.ethernet]
address = "192.168.1.5/24"
gateway = "192.168.1.1"
dns = ["192.168.1.1"]

[gateway]
base_iri = "https://example.org/site/"

[mqtt]
mode = "external"
host = "broker.lan"
username = "gateway"
tls = true

[shipping]
to = "s3://bucket"

[shipping.options]
secret = "s3 secret"
"""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = Places(tmp_path / "boot", tmp_path / "data", tmp_path / "state")
    for folder in (made.boot, made.data, made.state):
        folder.mkdir()
    return made


def write(places: Places, text: str | bytes, name: str = "gateway.toml") -> None:
    (places.boot / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def settings(places: Places) -> dict[str, Any]:
    return tomllib.loads((places.data / "etc/sosa-gateway/gateway.toml").read_text())


def config(places: Places) -> Config:
    return load_config(places.data / "etc/sosa-gateway/gateway.toml", {})


def everything(folder: Path) -> str:
    return "".join(
        path.read_text(errors="replace") for path in sorted(folder.rglob("*")) if path.is_file()
    )


def claims(report: str) -> str:
    return report.partition("for an hour: ")[2].partition("\n")[0]


def test_good_wishes_are_fulfilled(places: Places) -> None:
    write(places, GOOD)
    report = first_boot(places)
    data = places.data
    assert "Not everything" not in report
    assert (data / "etc/hostname").read_text() == "kitchen-1\n"
    assert os.readlink(data / "etc/localtime") == "/usr/share/zoneinfo/Europe/Rome"
    assert (data / "ssh/authorized_keys").read_text() == f"{SSH_KEY}\n"
    wired = (data / "etc/network/20-wired.network").read_text()
    assert "Address=192.168.1.5/24\nGateway=192.168.1.1\nDNS=192.168.1.1\n" in wired
    made = config(places)
    assert (made.mqtt.mode, made.mqtt.host) == ("external", "broker.lan")
    assert made.mqtt.password_file == "/etc/sosa-gateway/broker-password"
    assert (data / "etc/sosa-gateway/broker-password").read_text() == "broker secret\n"
    assert made.gateway.id == "kitchen-1"
    assert made.gateway.base_iri == "https://example.org/site/"
    assert made.security.enabled
    assert made.tls.mode == "own"
    assert claims(report) == "K7PQM-4XWTD"
    assert "https://kitchen-1.local:8443/" in report


def test_wifi_is_joined_by_the_derived_key_alone(places: Places) -> None:
    write(places, GOOD)
    first_boot(places)
    file = places.data / "etc/wpa_supplicant/wpa_supplicant-wlan0.conf"
    ssid = b'home "net"'
    key = hashlib.pbkdf2_hmac("sha1", b"wifi secret", ssid, 4096, 32).hex()
    assert f"ssid={ssid.hex()}\n" in file.read_text()
    assert f"psk={key}\n" in file.read_text()
    assert "country=IT\n" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "DHCP=yes" in (places.data / "etc/network/25-wireless.network").read_text()


def test_the_key_is_that_of_the_standard() -> None:
    """Annex J.4 of IEEE 802.11 has this pair."""
    key = hashlib.pbkdf2_hmac("sha1", b"password", b"IEEE", 4096, 32).hex()
    assert key == "f42c6fc52df0ebef9ebb4b90b38a5f902e83fe1b135a70e23aed762e9710a12e"


def test_no_secret_is_left_on_the_card(places: Places) -> None:
    write(places, GOOD)
    first_boot(places)
    left = everything(places.boot)
    assert not (places.boot / "gateway.toml").exists()
    for secret in ("wifi secret", "broker secret", "s3 secret", "k7pqm"):
        assert secret not in left
    done = tomllib.loads((places.boot / "gateway.toml.done").read_text())
    assert done["device"]["ssh_keys"] == [SSH_KEY]
    assert done["device"]["wifi"]["ssid"] == 'home "net"'
    assert done["mqtt"]["host"] == "broker.lan"


def test_without_a_file_the_device_is_closed_and_can_be_claimed(places: Places) -> None:
    report = first_boot(places)
    made = config(places)
    assert made.security.enabled
    assert made.tls.mode == "own"
    assert made.gateway.id.startswith("sosa-gateway-")
    assert len(claims(report)) == 11
    assert (places.boot / "gateway-report.txt").read_text() == report
    assert len((places.data / "etc/machine-id").read_text()) == 33


def test_two_devices_have_nothing_in_common(tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        places = Places(
            tmp_path / name / "boot", tmp_path / name / "data", tmp_path / name / "state"
        )
        for folder in (places.boot, places.data, places.state):
            folder.mkdir(parents=True)
        report = first_boot(places)
        made.append((claims(report), (places.data / "etc/machine-id").read_text()))
    assert not set(made[0]) & set(made[1])


def test_each_start_makes_another_code_until_there_is_a_client(places: Places) -> None:
    first, second = claims(first_boot(places)), claims(first_boot(places))
    assert first != second
    store = IdentityStore(places.state / "security" / "identities.sqlite")
    store.add(Identity("me", Kind.APPLICATION, EVERYTHING, "id", "hash", tokens_from=0.0))
    assert "sign in" in first_boot(places)


def test_a_chosen_code_lasts_over_starts_and_goes_with_the_first_client(places: Places) -> None:
    write(places, '[device]\nclaim_code = "K7PQM-4XWTD"\n')
    assert claims(first_boot(places)) == claims(first_boot(places)) == "K7PQM-4XWTD"
    store = IdentityStore(places.state / "security" / "identities.sqlite")
    store.add(Identity("me", Kind.APPLICATION, EVERYTHING, "id", "hash", tokens_from=0.0))
    first_boot(places)
    assert "K7PQM" not in everything(places.data)


def test_the_code_is_kept_where_the_gateway_looks(places: Places) -> None:
    first_boot(places)
    found = identities_path(config(places).model_copy())
    assert found.relative_to("/var/lib/sosa-gateway") == Path("security/identities.sqlite")
    assert (places.state / "security/identities.sqlite").exists()


def test_a_second_file_changes_what_it_names_and_nothing_else(places: Places) -> None:
    write(places, GOOD)
    first_boot(places)
    write(places, '[device]\nname = "cellar"\n[log]\nlevel = "debug"\n')
    first_boot(places)
    made = config(places)
    assert made.log.level == "debug"
    assert made.mqtt.host == "broker.lan"
    assert "wpa_supplicant-wlan0.conf" in str(list((places.data / "etc").rglob("*")))
    assert (places.data / "etc/hostname").read_text() == "cellar\n"


def test_notepad_saves_with_a_mark_and_its_own_line_ends(places: Places) -> None:
    write(places, b"\xef\xbb\xbf" + b'[device]\r\nname = "kitchen"\r\n')
    assert "Not everything" not in first_boot(places)
    assert (places.data / "etc/hostname").read_text() == "kitchen\n"


def test_what_is_wrong_is_told_and_the_rest_is_done(places: Places) -> None:
    write(
        places, '[device]\nname = "kitchen"\ntimezone = "Rome"\n[http]\nport = "x"\n[htp]\na = 1\n'
    )
    report = first_boot(places)
    assert "there is no time zone 'Rome'" in report
    assert "gateway.toml: 5: http.port: " in report
    assert "'http'" in report
    assert (places.data / "etc/hostname").read_text() == "kitchen\n"
    assert config(places).http.port == 8000


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[device\nname =", "cannot be understood"),
        (b"\xff\xfe[\x00d\x00", "no text in UTF-8"),
        (b"#" * 70_000, "more than 65536 bytes"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, "nested too deeply"),
        (b"http." + b".".join([b"a"] * 20_000) + b" = 1", "nested too deeply"),
        (b"[device." + b".".join([b"a"] * 500) + b"]\n", "nested too deeply"),
        (b"[http]\nport = " + b"9" * 5000, "cannot be understood"),
        (b"[http]\nport = 0x" + b"f" * 20_000, "too large for any setting"),
    ],
)
def test_a_file_that_cannot_be_read_costs_nothing_but_itself(
    places: Places, content: bytes, words: str
) -> None:
    write(places, content)
    report = first_boot(places)
    assert words in report
    assert config(places).security.enabled
    assert (places.boot / "gateway.toml").read_bytes() == content
    assert claims(report)


HOSTILE = [
    'name = "a\\nb"',
    'name = "../../etc"',
    'timezone = "../../../etc/shadow"',
    'wifi = { ssid = "x\\n}\\nnetwork={", password = "12345678" }',
    'wifi = { ssid = "x", password = "short" }',
    'wifi = { ssid = "x", country = "it" }',
    'wifi = { ssid = "x", ctrl_interface = "/tmp" }',
    'ssh_keys = ["command=\\"rm\\" ssh-ed25519 AAAA"]',
    f'ssh_keys = ["{SSH_KEY}\\nssh-rsa x"]',
    'ethernet = { address = "1.2.3.4/24\\nDNS=6.6.6.6" }',
    'ethernet = { address = "nowhere" }',
    'ethernet = { address = "192.168.1.5" }',
    'timezone = "localtime"',
    'claim_code = "0000000000"',
    'claim_code = "AAAA"',
    'broker_password = "a\\nb"',
    "broker_password = 7",
    "no_such_wish = 1",
    "wifi = 3",
]


@pytest.mark.parametrize("wish", HOSTILE)
def test_a_hostile_wish_is_told_and_writes_nothing(places: Places, wish: str) -> None:
    name = wish.partition(" ")[0]
    write(places, f"[device]\n{wish}\n")
    report = first_boot(places)
    assert f"gateway.toml: device.{name}" in report
    written = {
        str(path.relative_to(places.data)) for path in places.data.rglob("*") if path.is_file()
    }
    assert written == {
        "etc/hostname",
        "etc/machine-id",
        "etc/nftables/ports.nft",
        "etc/sosa-gateway/gateway.toml",
    }


@pytest.mark.parametrize(
    "text",
    [
        '[device.wifi]\nssid = "home"\npasword = "hunter-22"\n',
        '[mqtt]\npasswort = "hunter-22"\n',
        '[device]\nclaimcode = "hunter-22"\n',
        '[shipping]\nto = "sftp://me:hunter-22@backup.lan/house"\n',
    ],
)
def test_a_secret_whose_name_is_mistyped_is_wiped_too(places: Places, text: str) -> None:
    write(places, text)
    first_boot(places)
    assert "hunter-22" not in everything(places.boot)


def test_the_data_stay_where_they_are(places: Places) -> None:
    write(places, '[gateway]\ndata_dir = "/etc"\n')
    first_boot(places)
    assert str(config(places).gateway.data_dir) == "/var/lib/sosa-gateway"


@pytest.mark.parametrize(
    "text",
    [
        "http = 3",
        "[mqtt.users.a]\nb = 1",
        "[[http]]\nport = 1",
        "[mqtt.users]\na = 1\nb = 2",
        '[[modbus.buses]]\nname = 3\ndevice = 4\nline = "x"',
    ],
)
def test_settings_of_the_wrong_shape_are_told_and_left_out(places: Places, text: str) -> None:
    write(places, text)
    assert "Not everything" in first_boot(places)
    assert config(places).security.enabled


def test_a_device_that_is_a_list_is_told(places: Places) -> None:
    write(places, "device = [1]\n")
    assert "write it as a table [device]" in first_boot(places)


def test_what_raspberry_pi_imager_writes_is_understood(places: Places) -> None:
    preset = f'''config_version = 1
[system]
hostname = "pi-one"
[ssh]
enabled = true
authorized_keys = ["{SSH_KEY}"]
[wlan]
ssid = "home"
password = "12345678"
password_encrypted = false
hidden = false
country = "IT"
[locale]
keymap = "it"
timezone = "Europe/Rome"
'''
    write(places, preset, "rpi-preseed.toml")
    assert "Not everything" not in first_boot(places)
    assert (places.data / "etc/hostname").read_text() == "pi-one\n"
    assert (places.data / "ssh/authorized_keys").read_text() == f"{SSH_KEY}\n"
    assert "12345678" not in everything(places.boot)


class PowerCut(BaseException):
    """At a moment that nobody chose."""


@pytest.mark.parametrize("writes", range(10))
def test_a_power_cut_at_any_write_ends_in_the_same_device(
    places: Places, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    write(places, GOOD)
    left, real = [writes], durable_files.write_durably

    def cut(path: Path, content: bytes, mode: int, like: os.stat_result | None = None) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise PowerCut
        real(path, content, mode, like)

    with monkeypatch.context() as patched:
        for each in (module, claim_code, secrets):
            patched.setattr(each, "write_durably", cut)
        with suppress(PowerCut):
            first_boot(places)
    report = first_boot(places)
    assert claims(report) == "K7PQM-4XWTD"
    assert config(places).mqtt.host == "broker.lan"
    assert (places.data / "etc/hostname").read_text() == "kitchen-1\n"
    assert not (places.boot / "gateway.toml").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
@pytest.mark.parametrize("steps", range(3))
def test_a_power_cut_leaves_no_settings_that_the_gateway_cannot_read(
    places: Places, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    os.chown(places.state, 4711, 4712)
    left, real = [steps], {name: getattr(os, name) for name in ("chown", "chmod")}

    def cut_before(name: str) -> Callable[..., None]:
        def step(*arguments: Any, **named: Any) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise PowerCut
            real[name](*arguments, **named)

        return step

    with monkeypatch.context() as patched:
        for name in real:
            patched.setattr(os, name, cut_before(name))
        with suppress(PowerCut):
            first_boot(places)
    first_boot(places)
    file = places.data / "etc/sosa-gateway/gateway.toml"
    for each, mode in ((file.parent, 0o750), (file, 0o640)):
        found = each.stat()
        assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (0, 4712, mode)


def test_the_command_prints_what_the_report_says(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = ("--boot", str(places.boot), "--data", str(places.data), "--state", str(places.state))
    assert main(["first-boot", *folders]) == 0
    assert capsys.readouterr().out.startswith("This device is called sosa-gateway-")


def test_without_a_place_for_data_it_says_what_to_do(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    places.data.rmdir()
    places.data.write_text("")
    folders = ("--boot", str(places.boot), "--data", str(places.data), "--state", str(places.state))
    assert main(["first-boot", *folders]) == 1
    assert "can be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    "document",
    [
        {"a": 'quote " back \\ slash \x7f \u20ac \n', "b": {"c d": {"e": [1, 2.5, True]}}},
        {"list": [{"x": "1"}, {"y": float("inf")}], "empty": {}, "": 0},
    ],
)
def test_toml_is_read_back_as_it_was(document: dict[str, object]) -> None:
    assert tomllib.loads(toml_of(document)) == document


def rules(places: Places) -> str:
    return (places.data / "etc/nftables/ports.nft").read_text()


def test_a_new_device_opens_what_it_serves_by_tls_and_nothing_else(places: Places) -> None:
    first_boot(places)
    assert rules(places) == (
        "flush set inet filter ports\nadd element inet filter ports { 8443, 8883, 9443 }\n"
    )


@pytest.mark.parametrize(
    ("wish", "ports"),
    [
        ('[mqtt]\nmode = "external"\nhost = "broker.lan"\n', "8443, 9443"),
        ("[mqtt]\nwebsocket = true\n", "8084, 8443, 8883, 9443"),
        ('[mqtt]\nmode = "mosquitto"\n', "8443, 8883, 9443"),
        ("[tls]\nhttp_port = 443\nwebsocket_port = 0\nmqtt_port = 0\n", "443"),
        ('[mqtt]\nhost = "127.0.0.1"\n', "8443, 9443"),
        ('[federation]\nvia = "hub.lan"\n', "7447, 7448, 8443, 8883, 9443"),
        (
            '[federation]\nvia = "hub.lan"\nlisten = "0.0.0.0:99999"\njoin_port = 80\n',
            "80, 8443, 8883, 9443",
        ),
    ],
)
def test_the_open_ports_are_those_of_the_settings(places: Places, wish: str, ports: str) -> None:
    write(places, wish)
    first_boot(places)
    assert rules(places).endswith(f"add element inet filter ports {{ {ports} }}\n")


def test_what_is_served_to_this_machine_alone_opens_nothing(places: Places) -> None:
    write(places, '[http]\nhost = "localhost"\n[mqtt]\nhost = "::1"\n')
    first_boot(places)
    assert rules(places) == "flush set inet filter ports\n"


def test_settings_that_have_become_wrong_leave_the_ports_of_a_new_device(places: Places) -> None:
    first_boot(places)
    (places.data / "etc/sosa-gateway/gateway.toml").write_text('[http]\nport = "x"\n')
    first_boot(places)
    assert "8443, 8883, 9443" in rules(places)


def test_serial_ports_are_opened_where_a_bus_is_a_line_and_closed_again(places: Places) -> None:
    link = places.data / "etc/sosa-gateway.service.d/serial.conf"
    write(places, '[[modbus.buses]]\nname = "cellar"\ndevice = "/dev/ttyUSB0"\n')
    first_boot(places)
    first_boot(places)
    assert os.readlink(link) == "/usr/share/sosa-gateway/serial.conf"
    write(places, '[[modbus.buses]]\nname = "cellar"\nhost = "192.168.1.40"\n')
    first_boot(places)
    assert not link.is_symlink()
