"""Mistakes of a first day: of each, what is typed, the exit code, what is wrong, what to do.

`_` in a command line separates what a shell would; {…} are places of the running gateways.
"""

import asyncio
import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from gateway.app.gateway import Gateway
from gateway.cli.command import main
from gateway.runtime.clocks import Clocks
from gateway.security.certificates import make_ca
from tests.kit.gateways import (
    LOOPBACK,
    Device,
    Program,
    free_port,
    mosquitto,
    running,
    settings,
    wait_until,
    write_profile,
)
from tests.kit.small_disk import small_disk

GW = "PREFIX gw: <https://sosa-gateway.example/ns#>"
MAPPINGS = "https://sosa-gateway.example/graph/mappings"
IN_MAPPINGS = "GRAPH <" + MAPPINGS + "> "
GOOD = (
    'a gw:Mapping ; gw:topicFilter "a" ; gw:format "json" ; gw:selector "$.t" ; gw:sensor <urn:s> ;'
    " gw:observedProperty <urn:p> ; gw:featureOfInterest <urn:f>"
)
ADD = {
    "id": "urn:x",
    "topic": "a/b",
    "format": "json",
    "selector": "$.t",
    "sensor": "urn:s",
    "property": "urn:p",
    "feature": "urn:f",
}


class Mistake(NamedTuple):
    """A row of the table: `file` is what gateway.toml says, `typed` the command."""

    typed: tuple[str, ...]
    wrong: str
    to_do: str
    file: str = ""
    code: int = 1


def _added(**changed: object) -> str:
    return json.dumps({"add": [{**ADD, **changed}]})


def _wrote(turtle: str) -> str:
    return f"{GW} INSERT DATA {{ {IN_MAPPINGS} {{ <urn:m> {turtle} }} }}"


AT_THE_START = {
    "typo in a setting": Mistake(
        ("run",),
        "gateway.toml:2: mqtt.prot: unknown setting",
        "did you mean 'port'?",
        "[mqtt]\nprot = 1",
    ),
    "typo in a section": Mistake(
        ("run",),
        "gateway.toml:1: mqttt: unknown setting",
        "did you mean 'mqtt'?",
        "[mqttt]\nport = 1",
    ),
    "a setting of the wrong type": Mistake(
        ("run",),
        "mqtt.port: Input should be a valid integer",
        "the default is 1883",
        '[mqtt]\nport = "many"',
    ),
    "no TOML": Mistake(
        ("run",), "gateway.toml: Expected ']'", "correct the TOML syntax", "[mqtt\nport = 1"
    ),
    "no such configuration": Mistake(
        ("run", "--config", "other.toml"), "other.toml", "name a readable TOML file with --config"
    ),
    "no such profile": Mistake(
        ("run",),
        "No such file or directory: 'house.jsap'",
        "correct [jsap] profiles",
        '[jsap]\nprofiles = ["observations", "house.jsap"]',
    ),
    "a profile that is no JSON": Mistake(
        ("run",),
        "bad.jsap: ",
        "sosa-gateway check tells more",
        '[jsap]\nprofiles = ["observations", "bad.jsap"]',
    ),
    "the folder of data is a file": Mistake(
        ("run",), "is a file, no folder", "[gateway] data_dir", '[gateway]\ndata_dir = "afile"'
    ),
    "a certificate that is not there": Mistake(
        ("run",),
        "nowhere.pem",
        "[tls]",
        '[tls]\nmode = "files"\ncertificate = "nowhere.pem"\nkey = "nowhere.key"',
    ),
    "the network without identities": Mistake(
        ("run",), "0.0.0.0", "[security]", '[http]\nhost = "0.0.0.0"'
    ),
    "the port of MQTT is in use": Mistake(
        ("run",), "port {mqtt}: another gateway (pid ", "end it, or set another port: [http] port",
        "[mqtt]\nport = {mqtt}\n[http]\nport = 0\n[websocket]\nport = 0",
    ),
    "the port of HTTP is in use": Mistake(
        ("run",), "port {http}: another gateway (pid ", "end it, or set another port: [http] port",
        "[mqtt]\nport = 0\n[http]\nport = {http}\n[websocket]\nport = 0",
    ),
    "a second instance": Mistake(
        ("run", "--config", "{plain}/gateway.toml"),
        "is in use by another gateway (pid ",
        "stop it (kill ",
    ),
}  # fmt: skip

AT_A_GATEWAY = {
    "nobody listens": Mistake(
        ("query", "--url", "http://127.0.0.1:{free}", "ASK {}"),
        "nothing listens at 127.0.0.1:{free}",
        "is the gateway running there?",
    ),
    "no such host": Mistake(
        ("query", "--url", "http://no-such-host.invalid", "ASK {}"),
        "there is no host 'no-such-host.invalid'",
        "correct the name",
    ),
    "https to a port without TLS": Mistake(
        ("query", "--url", "https://127.0.0.1:{http}", "ASK {}"),
        "does not speak TLS",
        "write http://",
    ),
    "http to a port with TLS": Mistake(
        ("query", "--url", "http://127.0.0.1:{https}", "ASK {}"), "speaks TLS", "write https://"
    ),
    "no CA": Mistake(
        ("query", "--url", "https://127.0.0.1:{https}", "ASK {}"),
        "a certificate that is not trusted",
        "give --ca FILE, which `sosa-gateway ca` tells at the gateway",
    ),
    "the wrong CA": Mistake(
        ("query", "--url", "https://127.0.0.1:{https}", "--ca", "{secure}/other.crt", "ASK {}"),
        "a certificate that is not trusted",
        "give --ca FILE",
    ),
    "a CA that is not there": Mistake(
        ("query", "--url", "https://127.0.0.1:{https}", "--ca", "nowhere.crt", "ASK {}"),
        "cannot use nowhere.crt",
        "sosa-gateway ca",
    ),
    "no credentials": Mistake(
        ("query", "{s}", "ASK {}"), "this needs a token", "give --credentials FILE"
    ),
    "credentials that are not there": Mistake(
        ("query", "{s}", "--credentials", "nowhere.json", "ASK {}"),
        "nowhere.json has no credentials: No such file",
        "sosa-gateway client add NAME --credentials FILE",
    ),
    "the wrong secret": Mistake(
        ("query", "{s}", "--credentials", "{secure}/wrong.json", "ASK {}"),
        "the client is unknown or its secret is wrong",
        "sosa-gateway client list",
    ),
    "no right to write": Mistake(
        ("update", "{s}", "--credentials", "{secure}/reader.json", "INSERT DATA {<a:a> <a:b> 1}"),
        "the default graph may not be written",
        "ask for the right to write it",
    ),
    "no right to look": Mistake(
        ("alarms", "{s}", "--credentials", "{secure}/reader.json"),
        "this needs the right 'operations'",
        "--may operations",
    ),
    "bad SPARQL": Mistake(
        ("query", "{p}", "SELECT ?s { ?s ?p }"), "at line 1, column ", "correct the SPARQL text"
    ),
    "a QUERY as an UPDATE": Mistake(
        ("update", "{p}", "SELECT * { ?s ?p ?o }"),
        "found 'SELECT', expected an operation",
        "this is a QUERY, for /query or `sosa-gateway query`",
    ),
    "an UPDATE as a QUERY": Mistake(
        ("query", "{p}", "INSERT DATA { <urn:a> <urn:b> 1 }"),
        "found 'INSERT', expected a QUERY",
        "this is an UPDATE, for /update or `sosa-gateway update`",
    ),
    "a file of SPARQL that is not there": Mistake(
        ("query", "{p}", "@nowhere.rq"), "cannot read nowhere.rq: No such file", "name a file"
    ),
    "a mapping with a misspelt term": Mistake(
        ("update", "{p}", _wrote(GOOD.replace("topicFilter", "topicFiltr"))),
        "there is no term gw:topicFiltr",
        "did you mean gw:topicFilter?",
        code=0,
    ),
    "a mapping with a unit that is none": Mistake(
        ("update", "{p}", _wrote(GOOD + " ; gw:unit <http://qudt.org/vocab/unit/DEGC>")),
        "QUDT has no unit DEGC",
        "did you mean DEG_C?",
        code=0,
    ),
    "a member that is none": Mistake(
        ("mapping", "apply", "{p}", _added(selctor="$.t")),
        "add[0].selctor: unknown",
        "did you mean selector?",
    ),
    "a format that is none": Mistake(
        ("mapping", "apply", "{p}", _added(format="jsn")),
        "format: is none of",
        "correct this member",
    ),
    "a unit that is none": Mistake(
        ("mapping", "apply", "{p}", _added(unit="unit:DEGC")), "QUDT has no unit DEGC", "DEG_C?"
    ),
    "a topic filter that is none": Mistake(
        ("mapping", "apply", "{p}", _added(topic="a/#/b")),
        "# must be the whole last level",
        "correct this member",
    ),
    "JSON that is cut": Mistake(
        ("mapping", "apply", "{p}", '{"add":'), "this is no JSON", "docs/mappings.md shows it"
    ),
    "an actuator that is not there": Mistake(
        ("actuate", "{p}", "lamp", "1"), "there is no actuator lamp", "lists those there are"
    ),
    "an impossible value": Mistake(
        ("actuate", "{p}", "heater", "70"), "is above the maximum, 30", "(5 to 30)"
    ),
    "an unknown command": Mistake(
        ("qurey", "ASK {}"), "there is no command 'qurey'", "did you mean query?", code=2
    ),
    "an unknown option": Mistake(
        ("query", "--frmat", "json", "ASK {}"),
        "there is no option '--frmat' here",
        "did you mean --format?",
        code=2,
    ),
    "nothing to ask": Mistake(
        ("query",), "the following arguments are required", "sosa-gateway query --help", code=2
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Running:
    """Two gateways: one as it comes, one with TLS and identities; what rows name in braces."""

    plain: Path
    secure: Path
    http: int
    mqtt: int
    https: int
    free: int

    def fill(self, text: str) -> str:
        places = {
            "{p}": f"--url=http://{LOOPBACK}:{self.http}",
            "{s}": f"--url=https://{LOOPBACK}:{self.https}",
            **{f"{{{name}}}": str(getattr(self, name)) for name in self.__slots__},
        }
        for place, value in places.items():
            text = text.replace(place, value)
        return text

    def words(self, typed: tuple[str, ...]) -> list[str]:
        words = [self.fill(word) for word in typed]
        return [*words, f"--ca={self.secure}/data/tls/ca.crt"] if "{s}" in typed else words


PROFILE = {
    "host": LOOPBACK,
    "queries": {},
    "updates": {},
    "extended": {
        "actuators": [
            {
                "id": "urn:heater",
                "name": "heater",
                "topic": "heater/set",
                "property": "urn:p:target",
                "feature": "urn:room",
                "minimum": 5,
                "maximum": 30,
            }
        ],
        "mappings": [{**ADD, "id": "urn:t", "topic": "box/+", "sensor": "urn:s:{1}"}],
    },
}


@pytest.fixture(scope="module")
def gateways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    plain, secure = tmp_path_factory.mktemp("plain"), tmp_path_factory.mktemp("secure")
    at = Running(plain, secure, free_port(), free_port(), free_port(), free_port())
    (plain / "house.jsap").write_text(json.dumps(PROFILE), encoding="utf-8")
    (plain / "gateway.toml").write_text(
        f'[gateway]\ndata_dir = "{plain}/data"\n[mqtt]\nport = {at.mqtt}\n'
        f"[http]\nport = {at.http}\n[websocket]\nport = 0\n[limits]\npayload_bytes = 2000\n"
        f'[jsap]\nprofiles = ["observations", "{plain}/house.jsap"]\n',
        encoding="utf-8",
    )
    (secure / "gateway.toml").write_text(
        f'[gateway]\ndata_dir = "{secure}/data"\n[tls]\nmode = "own"\nhttp_port = {at.https}\n'
        "websocket_port = 0\nmqtt_port = 0\n[security]\nenabled = true\napplication_token_s = 2\n",
        encoding="utf-8",
    )
    config, file = f"--config={secure}/gateway.toml", secure / "reader.json"
    assert (
        main(["client", "add", "reader", "--query=default", f"--credentials={file}", config]) == 0
    )
    members = json.loads(file.read_text(encoding="utf-8"))
    wrong = json.dumps({**members, "client_secret": "wrong"})
    (secure / "wrong.json").write_text(wrong, encoding="utf-8")
    other = make_ca("another", datetime.now(UTC)).certificate
    (secure / "other.crt").write_bytes(other)
    with _run(plain / "gateway.toml") as one, _run(secure / "gateway.toml") as two:
        for program in (one, two):
            program.wait_for(" serving ")
        yield at


def _run(file: Path) -> Program:
    return Program(sys.executable, "-m", "gateway", "run", "--config", str(file))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a person who has said nothing else of any gateway."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name in [name for name in os.environ if name.startswith("SOSA_GATEWAY_U")]:
        monkeypatch.delenv(name)
    (tmp_path / "afile").write_text("", encoding="utf-8")
    (tmp_path / "bad.jsap").write_text("{", encoding="utf-8")
    return tmp_path


def _check(mistake: Mistake, gateways: Running, code: int, said: str) -> None:
    assert "Traceback" not in said
    assert code == mistake.code, said
    assert gateways.fill(mistake.wrong) in said
    assert gateways.fill(mistake.to_do) in said


@pytest.mark.parametrize("case", [*AT_THE_START, *AT_A_GATEWAY])
def test_a_mistake_is_told_with_what_to_do(
    case: str, gateways: Running, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mistake = (AT_THE_START | AT_A_GATEWAY)[case]
    if mistake.file:
        (folder / "gateway.toml").write_text(gateways.fill(mistake.file), encoding="utf-8")
    try:
        code = main(gateways.words(mistake.typed))
    except SystemExit as end:
        code = int(end.code or 0)
    said = capsys.readouterr()
    _check(mistake, gateways, code, said.out + said.err)


QUARANTINED: dict[str, tuple[bytes, str]] = {
    "a payload that is cut": (b'{"t": 2', "malformed"),
    "a payload that is not UTF-8": (b'{"t": "\xff"}', "malformed"),
    "a payload without the member": (b'{"temp": 21}', "missing"),
    "a huge payload": (b'{"t": ' + b"1" * 5000 + b"}", "too_large"),
}


@pytest.mark.parametrize("case", QUARANTINED)
def test_what_a_device_does_wrong_stands_in_quarantine_with_the_reason(
    case: str, gateways: Running, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    payload, reason = QUARANTINED[case]
    topic = f"box/{reason}{len(payload)}"
    url = f"--url=http://{LOOPBACK}:{gateways.http}"

    def listed() -> str:
        assert main(["quarantine", "list", "--topic", topic, url]) == 0
        return capsys.readouterr().out

    with Device(gateways.mqtt) as device:
        device.publish([(topic, payload)])
        wait_until(lambda: reason in listed())


def test_an_expired_token_says_so(gateways: Running) -> None:
    members = json.loads((gateways.secure / "reader.json").read_text(encoding="utf-8"))
    login = members["client_id"], members["client_secret"]
    file = gateways.secure / "data" / "tls" / "ca.crt"
    trusted = ssl.create_default_context(cafile=str(file))
    with httpx.Client(base_url=f"https://{LOOPBACK}:{gateways.https}", verify=trusted) as client:
        form = {"grant_type": "client_credentials"}
        token = client.post("/oauth/token", data=form, auth=login).json()["access_token"]
        bearer = {"Authorization": f"Bearer {token}"}

        def asked() -> httpx.Response:
            return client.get("/query", params={"query": "ASK {}"}, headers=bearer)

        wait_until(lambda: asked().status_code == 401)
        assert asked().json()["error"] == "invalid_grant"
        assert "expired" in asked().json()["error_description"]


async def test_a_clock_of_the_year_2000_is_an_alarm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = Clocks(now=lambda: datetime(2000, 1, 1, tzinfo=UTC))
    async with Gateway(settings(tmp_path, write_profile(tmp_path)), old) as gateway:
        code, said = await _alarms(gateway, capsys)
    assert code == 1
    assert "clock: it says 2000-01-01 00:00, which is long ago" in said
    assert "timedatectl set-ntp true" in said


async def test_no_broker_and_a_login_that_it_refuses_are_alarms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path), mosquitto=free_port())) as none:
        said = await _until_alarm(none, capsys)
        assert "Connection refused" in said
        assert "correct [mqtt] host, port" in said
    with mosquitto(tmp_path, anonymous=False) as broker:
        config = settings(tmp_path, write_profile(tmp_path), mosquitto=broker.port)
        async with running(config) as refused:
            said = await _until_alarm(refused, capsys)
            assert "it refused us: Not authorized" in said
            assert "username, password_file" in said


async def _until_alarm(gateway: Gateway, capsys: pytest.CaptureFixture[str]) -> str:
    while True:
        code, said = await _alarms(gateway, capsys)
        if code:
            return said


async def _alarms(gateway: Gateway, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    url = f"--url=http://{LOOPBACK}:{gateway.http_port}"
    code = await asyncio.to_thread(main, ["alarms", url])
    return code, capsys.readouterr().out


def test_a_full_disk_is_told_as_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with small_disk(folder / "disk") as disk:
        disk.fill()
        text = f'[gateway]\ndata_dir = "{disk.path}/data"\n'
        (folder / "gateway.toml").write_text(text, encoding="utf-8")
        assert main(["run"]) == 1
        said = capsys.readouterr().err
    assert "is full" in said
    assert "what to do: " in said


INTERRUPTED = {
    "Ctrl-C": (signal.SIGINT,),
    "Ctrl-C twice": (signal.SIGINT, signal.SIGINT),
    "SIGTERM": (signal.SIGTERM,),
}


@pytest.mark.parametrize("case", INTERRUPTED)
@pytest.mark.parametrize("after_s", [0.02, 0.3])
def test_an_interruption_at_any_moment_prints_no_traceback(
    case: str, after_s: float, folder: Path
) -> None:
    ports = "[mqtt]\nport = 0\n[http]\nport = 0\n[websocket]\nport = 0\n"
    (folder / "gateway.toml").write_text(ports, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "gateway", "run"], stderr=subprocess.PIPE, text=True
    )
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(after_s)
        for each in INTERRUPTED[case]:
            process.send_signal(each)
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
    assert "Traceback" not in said
    assert process.returncode in {0, 130, -signal.SIGINT, -signal.SIGTERM, 143}
