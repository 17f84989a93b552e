"""`sosa-gateway check` finds what `run` would, all at once: what, where, and what to do."""

import asyncio
import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from pyoxigraph import Literal, NamedNode, Quad

from gateway.app.storage import identity_of
from gateway.cli.command import main
from gateway.config.file import load_config
from gateway.config.settings import SHIPPED_PROFILES
from gateway.profiles import Profiles
from gateway.rdf.delta import quads_delta
from gateway.rdf.namespaces import GW, MAPPINGS_GRAPH, RDF, SOSA, SSN
from gateway.security.certificates import make_ca, make_server
from gateway.security.identity_store import IdentityStore
from gateway.store.quad_store import QuadStore
from tests.kit.gateways import LOOPBACK, Mosquitto, Program, free_port, mapping
from tests.kit.small_disk import small_disk

Captured = pytest.CaptureFixture[str]


@dataclass
class House:
    """A folder with a gateway.toml, on ports that are free."""

    folder: Path
    http: int
    mqtt: int

    def write(self, text: str = "", *profiles: str) -> "House":
        """Sections of settings; those of ports and profiles are added to them."""
        sections = {
            "http": f"port = {self.http}\n",
            "websocket": f"port = {self.http}\n",
            "mqtt": f"port = {self.mqtt}\n",
            "jsap": f"profiles = {json.dumps(['observations', *profiles])}\n",
        }
        for name, lines in sections.items():
            head = f"[{name}]\n"
            text = text.replace(head, head + lines) if head in text else text + head + lines
        (self.folder / "gateway.toml").write_text(text, encoding="utf-8")
        return self

    def checked(self, capsys: Captured) -> tuple[int, list[str]]:
        code = main(["check", "--config", str(self.folder / "gateway.toml")])
        told = capsys.readouterr()
        assert told.err == ""
        return code, told.out.replace(f"{self.folder}/", "").splitlines()

    def insert(self, *quads: Quad) -> None:
        """What an UPDATE may have left in the store."""
        store = QuadStore.open(self.folder / "data" / "store")
        store.apply(quads_delta(quads))
        store.close()
        vars(store).clear()


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, free_port(), free_port()).write()


def said(node: str, **members: str) -> list[Quad]:
    """A node of the graph of mappings; members of our namespace, IRIs where they have a colon."""
    return [
        Quad(
            NamedNode(node),
            NamedNode(f"{RDF}type" if name == "a" else f"{GW}{name}"),
            NamedNode(value) if value.startswith(("urn:", "http")) else Literal(value),
            MAPPINGS_GRAPH,
        )
        for name, value in members.items()
    ]


GOOD = {
    "a": f"{GW}Mapping",
    "topicFilter": "t/+",
    "format": "scalar",
    "sensor": "urn:s",
    "observedProperty": "urn:p",
    "featureOfInterest": "urn:f",
}
RULE = {
    "a": f"{GW}RepublishRule",
    "sparql": "SELECT * { ?s ?p ?o }",
    "topicTemplate": "t",
    "payloadTemplate": "x",
    "on": f"{GW}Added",
}
ACTUATOR = {"a": f"{SOSA}Actuator", "commandTopic": "lamp/set", "featureOfInterest": "urn:f"}


def test_a_house_in_order_is_well_and_stays_as_it_is(house: House, capsys: Captured) -> None:
    assert house.checked(capsys) == (0, ["all is well"])
    assert [each.name for each in house.folder.iterdir()] == ["gateway.toml"]
    house.insert(*said("urn:m", **GOOD))
    before = {path: path.stat().st_mtime_ns for path in house.folder.rglob("*")}
    assert house.checked(capsys) == (0, ["all is well"])
    assert {path: path.stat().st_mtime_ns for path in house.folder.rglob("*")} == before


@pytest.mark.parametrize(
    ("quads", "told"),
    [
        (
            said("urn:m", **{**GOOD, "topicFilter": "t", "topicFiltr": "u"}),
            "there is no term gw:topicFiltr; did you mean gw:topicFilter?",
        ),
        (
            said("urn:m", a=GOOD["a"], topicFiltr="t/+", format="scalar"),
            "gw:topicFilter, gw:sensor, gw:observedProperty, gw:featureOfInterest are missing",
        ),
        (said("urn:m", **{**GOOD, "unit": "http://qudt.org/vocab/unit/DEGC"}), "mean DEG_C?"),
        (said("urn:m", **{**GOOD, "format": "morse"}), "is none of sparkplug"),
        (said("urn:m", **{**GOOD, "topicFilter": "t/#/x"}), "<urn:m>.topic: "),
        (said("urn:m", **GOOD) + said("urn:m", format="json"), "several values"),
        (said("urn:m", **{**RULE, "sparql": "SELECT {"}), "gw:sparql: "),
        (said("urn:m", **{**RULE, "sparql": "DESCRIBE <urn:x>"}), "DESCRIBE"),
        (said("urn:m", **{**RULE, "qos": "7"}), "gw:qos is 0, 1 or 2"),
        (
            said("urn:m", **{n: v for n, v in RULE.items() if n != "sparql"}, query="NO"),
            "the profile has no query NO",
        ),
        (
            [
                *said("urn:m", **{**ACTUATOR, "commandTopic": "lamp/+"}),
                Quad(
                    NamedNode("urn:m"),
                    NamedNode(f"{SSN}forProperty"),
                    NamedNode("urn:p"),
                    MAPPINGS_GRAPH,
                ),
            ],
            "is none to publish to",
        ),
        (said("urn:m", **ACTUATOR), "ssn:forProperty is missing"),
        (said("urn:m", topicFilter="t"), "it is not said to be a gw:Mapping"),
    ],
)
def test_what_is_broken_in_the_store_is_told(
    house: House, quads: Sequence[Quad], told: str, capsys: Captured
) -> None:
    house.insert(*quads, *said("urn:good", **{**GOOD, "topicFilter": "good"}))
    code, lines = house.checked(capsys)
    assert code == 1
    (line,) = [each for each in lines if each.startswith("error: data/store: <urn:m>")]
    assert told in line
    assert lines[-1] == "1 errors, 0 warnings"


def test_a_mapping_that_is_known_to_be_inverted_is_a_warning(
    house: House, capsys: Captured
) -> None:
    opening = "https://sosa-gateway.example/property/opening"
    old = {"format": "zigbee2mqtt", "selector": "contact", "observedProperty": opening}
    house.insert(*said("urn:m", **{**GOOD, **old}))
    code, lines = house.checked(capsys)
    assert code == 0
    assert lines[0].startswith("warning: data/store: <urn:m>: a contact is true when it is closed")


def test_what_an_update_made_of_a_profile_is_told_of_the_store(
    house: House, capsys: Captured
) -> None:
    """As at a start: it stays as long as the profile does, then the profile is written over it."""
    file = house.folder / "own.jsap"
    members = mapping("v", "t/+", selector="$.v")
    file.write_text(json.dumps({"extended": {"mappings": [members]}}), encoding="utf-8")
    house.write("", "own.jsap")
    config = load_config(house.folder / "gateway.toml", {})
    profiles, empty = Profiles.load(config.jsap.profiles), QuadStore.open(None)
    loaded = profiles.mappings_delta(empty, identity_of(config).node)
    house.insert(*loaded.added, *said("urn:mapping:v", format="scalar"))
    code, lines = house.checked(capsys)
    assert code == 1
    assert lines[0].startswith("error: data/store: <urn:mapping:v>: format has several values")
    file.write_text(
        json.dumps({"extended": {"mappings": [{**members, "feature": "urn:other"}]}}),
        encoding="utf-8",
    )
    assert house.checked(capsys) == (0, ["all is well"])


def test_a_store_is_looked_at_though_profiles_are_wrong(house: House, capsys: Captured) -> None:
    house.insert(*said("urn:m", a=GOOD["a"], topicFiltr="t"))
    house.write("", "absent.jsap")
    code, lines = house.checked(capsys)
    assert code == 1
    assert any("absent.jsap" in line for line in lines)
    assert any("gw:topicFiltr" in line for line in lines)


def test_a_store_of_a_newer_release_is_told(house: House, capsys: Captured) -> None:
    house.insert(*said("urn:m", **GOOD))
    (house.folder / "data" / "store" / "form").write_text("7")
    code, lines = house.checked(capsys)
    assert code == 1
    assert "has form '7', which this release cannot read" in lines[0]


def test_a_damaged_store_is_told(house: House, capsys: Captured) -> None:
    house.insert(*said("urn:m", **GOOD))
    for path in (house.folder / "data" / "store").rglob("MANIFEST*"):
        path.write_bytes(b"?")
    code, lines = house.checked(capsys)
    assert code == 1
    assert "the store in data/store does not open: " in lines[0]
    assert "put back a copy of the folder" in lines[0]


def test_everything_is_told_at_once(house: House, capsys: Captured) -> None:
    """Of a start every kind: settings, folder, certificate, port, SPARQL, mapping, rule."""
    (house.folder / "a-file").touch()
    profile = {
        "host": "h",
        "queries": {"Q": {"sparql": "SELECT {"}},
        "extended": {
            "mappings": [
                mapping("v", "t", format="morse"),
                mapping("w", "t", selector="$.w", unit="NOPE"),
            ],
            "rules": [{"id": "urn:r", "query": "NO", "topic": "t", "payload": "", "on": "added"}],
        },
    }
    (house.folder / "own.jsap").write_text(json.dumps(profile), encoding="utf-8")
    house.write(
        '[gateway]\ndata_dir = "a-file"\n[log]\nlevl = 1\n[shipping]\nto = "gopher://x/"\n'
        '[tls]\nmode = "files"\ncertificate = "no.crt"\nkey = "no.key"\n'
        f"http_port = {house.http}\nwebsocket_port = {house.http}\nmqtt_port = {house.mqtt}\n",
        "own.jsap",
    )
    with socket.create_server((LOOPBACK, house.mqtt)):
        code, lines = house.checked(capsys)
    assert code == 1
    for told in (
        "gateway.toml:4: log.levl: unknown setting; did you mean 'level'?",
        "gateway.data_dir: ",
        "a-file is a file, no folder; move it away",
        "tls.certificate: cannot read no.crt",
        "tls.key: cannot read no.key",
        "shipping.to: ",
        "tls.mqtt_port: the MQTT broker cannot listen on 127.0.0.1 port",
        "own.jsap: queries.Q.sparql: ",
        "own.jsap: extended.mappings[0].format: ",
        "own.jsap: extended.mappings[1].unit: mapping <urn:mapping:w>, unit: 'NOPE' is no unit",
        "own.jsap: extended.rules[0].query: ",
    ):
        assert any(told in line for line in lines), (told, lines)


def test_wrong_items_of_a_profile_are_told_all(house: House, capsys: Captured) -> None:
    items = [
        {"id": "urn:m"},
        {**mapping("v", "t"), "tpoic": "x"},
        {**mapping("w", "t"), "id": "a:"},
    ]
    profile = {"host": "h", "extended": {"mappings": items, "rules": 3}}
    (house.folder / "own.jsap").write_text(json.dumps(profile), encoding="utf-8")
    code, lines = house.write("", "own.jsap").checked(capsys)
    assert code == 1
    for path in ("mappings[0].topic", "mappings[0].format", "mappings[1].tpoic", "rules"):
        assert any(f"own.jsap: extended.{path}: " in line for line in lines), (path, lines)


def as_a_file(folder: Path) -> None:
    (folder / "data").touch()


def as_a_dangling_link(folder: Path) -> None:
    (folder / "data").symlink_to(folder / "usb")


def with_a_damaged_ca(folder: Path) -> None:
    (folder / "data" / "tls").mkdir(parents=True)
    (folder / "data" / "tls" / "ca.crt").write_text("nothing")


def with_a_ca_that_has_ended(folder: Path) -> None:
    (folder / "data" / "tls").mkdir(parents=True)
    ca = make_ca("old", datetime.now(UTC) - timedelta(days=7_300))
    (folder / "data" / "tls" / "ca.crt").write_bytes(ca.certificate)
    (folder / "data" / "tls" / "ca.key").write_bytes(ca.key)


def with_damaged_identities(folder: Path) -> None:
    (folder / "data" / "security").mkdir(parents=True)
    (folder / "data" / "security" / "identities.sqlite").write_bytes(b"x" * 5_000)


@pytest.mark.parametrize(
    ("make", "text", "told"),
    [
        (as_a_file, "", "data is a file, no folder; move it away"),
        (as_a_dangling_link, "", "which is not there; make that folder"),
        (with_a_damaged_ca, '[tls]\nmode = "own"\n', "tls.mode: this is no certificate"),
        (with_a_ca_that_has_ended, '[tls]\nmode = "own"\n', "has ended; remove ca.crt"),
        (with_damaged_identities, "[security]\nenabled = true\n", "security.enabled: the identit"),
        (lambda _: None, "[journal]\nfree_bytes = 1000000000000000\n", "takes no reading; make"),
        (lambda _: None, '[http]\nhost = "192.0.2.7"\nallow_remote = true\n', "has no address"),
    ],
)
def test_what_stands_in_the_way_on_this_machine_is_told(
    house: House, make: Callable[[Path], None], text: str, told: str, capsys: Captured
) -> None:
    make(house.folder)
    ports = "http_port = 0\nwebsocket_port = 0\nmqtt_port = 0\n" if "own" in text else ""
    code, lines = house.write(text + ports).checked(capsys)
    assert code == 1
    assert told in lines[0], lines


def test_identities_that_are_well_are_left_alone(house: House, capsys: Captured) -> None:
    IdentityStore(house.folder / "data" / "security" / "identities.sqlite")
    assert house.write("[security]\nenabled = true\n").checked(capsys)[0] == 0


def test_a_folder_that_would_be_made_with_its_parent_is_a_warning(
    house: House, capsys: Captured
) -> None:
    code, lines = house.write('[gateway]\ndata_dir = "usb/data"\n').checked(capsys)
    assert code == 0
    assert "neither usb/data nor usb is there" in lines[0].replace(str(house.folder), "usb/..")


def test_a_full_disk_and_a_read_only_one_are_told(tmp_path: Path, capsys: Captured) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        house = House(tmp_path, free_port(), free_port())
        house.write('[gateway]\ndata_dir = "disk/data"\n')
        disk.fill()
        code, lines = house.checked(capsys)
        assert code == 1
        assert "gateway.toml:2: gateway.data_dir: the disk of" in lines[0]
        disk.make_room()
        subprocess.run(["mount", "-o", "remount,ro", str(disk.path)], check=True)
        code, lines = house.checked(capsys)
        assert code == 1
        assert "is mounted read-only; mount it for writing" in lines[0]


def test_ports_in_use_are_told_with_who_has_them(house: House, capsys: Captured) -> None:
    with socket.create_server((LOOPBACK, house.http)):
        code, lines = house.checked(capsys)
    assert code == 1
    (line,) = [line for line in lines if "http.port: " in line]
    assert f"port {house.http}: another process (pid " in line
    assert line.endswith("in gateway.example.toml")


def test_a_port_that_is_given_twice_is_told(house: House, capsys: Captured) -> None:
    house.mqtt = house.http
    code, lines = house.write().checked(capsys)
    assert code == 1
    assert f"http.port: port {house.http} is that of mqtt.port too; give each its own" in lines[0]


def certificates(folder: Path, begun: datetime) -> None:
    ca = make_ca("test", begun)
    for name, made in (("a", make_server(["localhost"], ca, begun)), ("b", ca)):
        (folder / f"{name}.crt").write_bytes(made.certificate)
        (folder / f"{name}.key").write_bytes(made.key)


@pytest.mark.parametrize(
    ("days_ago", "files", "told"),
    [
        (0, ("a.crt", "a.key"), "all is well"),
        (0, ("a.crt", "b.key"), "files that belong together"),
        (0, ("a.crt", "none"), "tls.key: cannot read none: No such file or directory"),
        (0, ("gateway.toml", "a.key"), "name PEM files"),
        (4_000, ("a.crt", "a.key"), "days ago: no client will trust it; put a new one there"),
    ],
)
def test_certificates_are_looked_at(
    house: House, days_ago: int, files: tuple[str, str], told: str, capsys: Captured
) -> None:
    certificates(house.folder, datetime.now(UTC) - timedelta(days=days_ago))
    house.write(
        f'[tls]\nmode = "files"\ncertificate = "{files[0]}"\nkey = "{files[1]}"\n'
        "http_port = 0\nwebsocket_port = 0\nmqtt_port = 0\n"
    )
    code, lines = house.checked(capsys)
    assert (code == 0, told in lines[0]) == (told == "all is well", True), lines


def test_a_certificate_that_ends_soon_is_a_warning(house: House, capsys: Captured) -> None:
    begun = datetime.now(UTC)
    certificates(house.folder, begun)
    certificate = x509.load_pem_x509_certificate((house.folder / "a.crt").read_bytes())
    lasts = certificate.not_valid_after_utc - begun
    certificates(house.folder, begun - lasts + timedelta(days=3, hours=1))
    house.write(
        '[tls]\nmode = "files"\ncertificate = "a.crt"\nkey = "a.key"\n'
        "http_port = 0\nwebsocket_port = 0\nmqtt_port = 0\n"
    )
    code, lines = house.checked(capsys)
    assert code == 0
    assert "a.crt ends in 3 days; put a new one there in time" in lines[0]


@contextmanager
def broker(folder: Path, *lines: str) -> Iterator[Mosquitto]:
    """Mosquitto as a test wants it."""
    program = shutil.which("mosquitto") or shutil.which("/usr/sbin/mosquitto")
    if program is None:
        pytest.skip("mosquitto is not installed")
    port, file = free_port(), folder / "mosquitto.conf"
    text = f"user root\nlistener {port} {LOOPBACK}\npersistence false\nlog_dest stderr\n"
    file.write_text("\n".join([text, *lines, ""]), encoding="utf-8")
    with Program(program, "-c", str(file)) as process:
        process.wait_for(" running")
        yield Mosquitto(process, port)


def dialling(house: House, port: int, *lines: str, host: str = "localhost") -> House:
    house.mqtt = port
    text = "\n".join([f'mode = "external"\nhost = "{host}"', "allow_clear_text = true", *lines])
    return house.write(f"[mqtt]\n{text}\n")


def test_a_broker_that_takes_us_is_well(house: House, capsys: Captured) -> None:
    with broker(house.folder, "allow_anonymous true") as there:
        assert dialling(house, there.port).checked(capsys) == (0, ["all is well"])
        code, lines = dialling(house, there.port, "tls = true").checked(capsys)
    assert code == 1
    assert "does not speak TLS" in lines[0]
    assert "usually 8883, or say [mqtt] tls = false" in lines[0]


def test_a_login_that_the_broker_refuses_is_told(house: House, capsys: Captured) -> None:
    (house.folder / "users").touch(mode=0o600)
    (house.folder / "secret").write_text("wrong\n")
    program = shutil.which("mosquitto_passwd") or pytest.skip("mosquitto_passwd is not installed")
    subprocess.run([program, "-b", str(house.folder / "users"), "gw", "right"], check=True)
    lines = ("allow_anonymous false", f"password_file {house.folder}/users")
    given = ('username = "gw"', 'password_file = "secret"')
    with broker(house.folder, *lines) as there:
        code, told = dialling(house, there.port, *given).checked(capsys)
        assert code == 1
        assert f"mqtt.host: the broker at localhost:{there.port} refuses us: " in told[0]
        assert "correct [mqtt] username and password_file" in told[0]
        (house.folder / "secret").write_text("right\n")
        assert house.checked(capsys) == (0, ["all is well"])


def test_a_broker_whose_certificate_is_not_trusted_is_told(house: House, capsys: Captured) -> None:
    certificates(house.folder, datetime.now(UTC))
    files = (f"certfile {house.folder}/a.crt", f"keyfile {house.folder}/a.key")
    with broker(house.folder, "allow_anonymous true", *files) as there:
        code, lines = dialling(house, there.port, "tls = true").checked(capsys)
        assert code == 1
        assert "a certificate that is not trusted" in lines[0]
        assert "[mqtt] ca_file" in lines[0]
        trusting = ("tls = true", 'ca_file = "b.crt"')
        assert dialling(house, there.port, *trusting).checked(capsys) == (0, ["all is well"])
        code, lines = dialling(house, there.port, *trusting, host="127.0.0.1").checked(capsys)
        assert (code, "not valid for '127.0.0.1'" in lines[0]) == (1, True), lines
        code, lines = dialling(house, there.port).checked(capsys)
        assert (code, "say [mqtt] tls = true where it wants TLS" in lines[0]) == (1, True), lines


def test_a_broker_that_is_not_there_is_told(house: House, capsys: Captured) -> None:
    port = free_port()
    code, lines = dialling(house, port).checked(capsys)
    assert code == 1
    assert f"nothing listens at localhost:{port}; start the broker" in lines[0]
    code, lines = dialling(house, port, host="no-such-host.invalid").checked(capsys)
    assert (code, "there is no host no-such-host.invalid" in lines[0]) == (1, True), lines


@contextmanager
def running_here(house: House) -> Iterator[int]:
    """The gateway of the house, in a process of its own; its pid."""
    command = (sys.executable, "-m", "gateway", "run", "--config")
    with Program(*command, str(house.folder / "gateway.toml")) as process:
        process.wait_for("serving")
        yield process.pid


def test_the_gateway_of_these_settings_is_asked_for_its_alarms(
    house: House, capsys: Captured
) -> None:
    with running_here(house) as pid:
        code, lines = house.checked(capsys)
        assert code == 0
        assert f"is in use by another gateway (pid {pid}, " in lines[0]
        assert "which is the gateway of these settings; stop it before you `run`" in lines[0]
        assert lines[1:] == ["0 errors, 1 warnings"]
        asyncio.run(broken_mapping(house))
        code, lines = house.checked(capsys)
        assert code == 1
        assert "error: the gateway that runs: urn:m: there is no term gw:topicFiltr" in lines[1]
        other = House(house.folder, free_port(), free_port()).write()
        code, lines = other.checked(capsys)
        assert code == 1
        assert (
            "error: gateway.toml: gateway.data_dir: data is in use by another gateway" in lines[0]
        )


def test_a_start_that_fails_says_the_same_without_a_traceback(house: House) -> None:
    run = (sys.executable, "-m", "gateway", "run", "--config", str(house.folder / "gateway.toml"))
    with socket.create_server((LOOPBACK, house.mqtt)):
        done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert f"port {house.mqtt}: another process (pid " in done.stderr
    with running_here(house) as pid:
        done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"is in use by another gateway (pid {pid}, " in done.stderr
    assert f"what to do: stop it (kill {pid}, " in done.stderr


def test_a_gateway_that_lets_nobody_look_is_told_as_not_looked_at(
    house: House, capsys: Captured
) -> None:
    with running_here(house.write("[security]\nenabled = true\n")):
        code, lines = house.checked(capsys)
    assert code == 0
    (line,) = [each for each in lines if "was not asked for its alarms" in each]
    assert line.startswith("warning: ")
    assert "sosa-gateway login" in line


async def broken_mapping(house: House) -> None:
    text = (
        f"INSERT DATA {{ GRAPH {MAPPINGS_GRAPH} "
        f"{{ <urn:m> a <{GW}Mapping> ; <{GW}topicFiltr> 't' }} }}"
    )
    async with httpx.AsyncClient() as client:
        url = f"http://{LOOPBACK}:{house.http}/update"
        assert (await client.post(url, data={"update": text})).status_code == 200


@pytest.mark.parametrize(
    ("extended", "told"),
    [
        ({"mappings": [mapping("v", "t", format="morse")]}, "extended.mappings[0].format: "),
        ({"mappings": [mapping("v", "t", unit="unit:DEGC")]}, "extended.mappings[0].unit: "),
        ({"mappings": [{"id": "urn:m", "tpoic": "t"}]}, "extended.mappings[0].tpoic: unknown"),
        ({"mappings": 3}, "extended.mappings: not a list"),
        (
            {"rules": [{"id": "urn:r", "query": "NO", "topic": "t", "payload": "", "on": "added"}]},
            "extended.rules[0].query: rule <urn:r>: the profile has no query NO",
        ),
        (
            {
                "rules": [
                    {
                        "id": "urn:r",
                        "sparql": "DESCRIBE <urn:x>",
                        "topic": "t",
                        "payload": "",
                        "on": "added",
                    }
                ]
            },
            "extended.rules[0].sparql: rule <urn:r>: ",
        ),
        (
            {
                "actuators": [
                    {"id": "urn:a", "topic": "a/+", "property": "urn:p", "feature": "urn:f"}
                ]
            },
            "extended.actuators[0]: actuator <urn:a>: topic 'a/+'",
        ),
        (
            {
                "actuators": [
                    {
                        "id": "urn:a",
                        "topic": "a",
                        "property": "urn:p",
                        "feature": "urn:f",
                        "unit": "unit:DEGC",
                    }
                ]
            },
            "extended.actuators[0].unit: QUDT has no unit DEGC; did you mean DEG_C?",
        ),
    ],
)
def test_jsap_check_sees_what_is_extended(
    tmp_path: Path, extended: object, told: str, capsys: Captured
) -> None:
    path = tmp_path / "own.jsap"
    names = {"unit": "http://qudt.org/vocab/unit/"}
    path.write_text(json.dumps({"host": "h", "namespaces": names, "extended": extended}))
    assert main(["jsap", "check", str(path)]) == 1
    out = capsys.readouterr().out
    assert f"error: {path}: {told}" in out


def test_jsap_check_of_what_ships_finds_nothing(capsys: Captured) -> None:
    for path in sorted(SHIPPED_PROFILES.glob("*.jsap")):
        assert main(["jsap", "check", str(path)]) == 0
        assert "error" not in capsys.readouterr().out.replace("0 errors", "")
