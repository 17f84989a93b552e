"""gateway.cli.asking and login: which gateway is asked, and why it cannot be."""

import os
import ssl
import stat
import threading
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gateway.cli.asking.known_gateway import Login, base_url, fill, login_file, subscribe_url
from gateway.cli.asking.service import read_text
from gateway.cli.command import main
from gateway.errors import BadRequestError, ConfigurationError
from gateway.security.tls import OwnCertificate
from tests.kit.gateways import LOOPBACK

NEXT_YEAR = datetime.now(UTC) + timedelta(days=365)
NOBODY = Namespace(url=None, ca=None, credentials=None)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in [name for name in os.environ if name.startswith("SOSA_GATEWAY_")]:
        monkeypatch.delenv(name)
    return tmp_path


def settled(**given: str) -> tuple[str, str, str]:
    options = Namespace(**{**vars(NOBODY), **given})
    fill(options, os.environ)
    return options.url, str(options.ca or ""), str(options.credentials or "")


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        asked = self.headers["Authorization"]
        status = 200 if self.path != "/ready" or not self.server.is_closed or asked else 401  # type: ignore[attr-defined]
        body = b'{"ready": true}' if status == 200 else b'{"error": "unauthorized"}'
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def listening(tls: ssl.SSLContext | None = None, *, is_closed: bool = False) -> Iterator[int]:
    server = ThreadingHTTPServer((LOOPBACK, 0), _Handler)
    server.is_closed = is_closed  # type: ignore[attr-defined]
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_first_that_is_told_wins(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settled() == ("http://127.0.0.1:8000", "", "")
    Login("http://far:1", "/far.crt", "/far.json").write(os.environ)
    assert settled() == ("http://far:1", "/far.crt", "/far.json")
    (home / "gateway.toml").write_text('[http]\nport = 8100\nhost = "0.0.0.0"\n')
    assert settled() == ("http://127.0.0.1:8100", "", "")
    assert settled(url="far:1") == ("http://far:1", "/far.crt", "/far.json")
    (home / "data" / "tls").mkdir(parents=True)
    (home / "data" / "tls" / "ca.crt").write_text("x")
    (home / "gateway.toml").write_text('[tls]\nmode = "own"\nhttp_port = 8443\n[http]\nport=1\n')
    assert settled() == ("https://127.0.0.1:8443", "data/tls/ca.crt", "")
    monkeypatch.setenv("SOSA_GATEWAY_TLS__HTTP_PORT", "9999")
    assert settled()[0] == "https://127.0.0.1:9999"
    monkeypatch.setenv("SOSA_GATEWAY_URL", "wss://hall:3/subscribe")
    monkeypatch.setenv("SOSA_GATEWAY_CREDENTIALS", "hall.json")
    assert settled() == ("https://hall:3", "", "hall.json")
    assert settled(url="http://own:4", ca="own.crt", credentials="own.json") == (
        *("http://own:4", "own.crt", "own.json"),
    )


def test_credentials_are_never_given_to_another_gateway() -> None:
    Login("https://mine:1", "", "/secret.json").write(os.environ)
    assert settled(url="https://evil:1") == ("https://evil:1", "", "")


@pytest.mark.parametrize("text", ["", "[", "[http]\nport = [1]\n", 'http = 1\ntls = "x"\n', "\0"])
def test_a_gateway_toml_that_is_wrong_is_for_check_to_tell(home: Path, text: str) -> None:
    (home / "gateway.toml").write_text(text)
    assert settled(url="hall")[0] == "http://hall"


@pytest.mark.parametrize(
    "url", ["", "ftp://x", "http://", "http://x:y", "http://x:99999999", "http://["]
)
def test_what_is_no_url_is_told(url: str) -> None:
    with pytest.raises(BadRequestError):
        base_url(url)


@pytest.mark.parametrize(
    ("url", "base", "socket"),
    [
        ("ws://h:9000/subscribe", "http://h:9000", "ws://h:9000/subscribe"),
        ("ws://h:9000/secure/subscribe", "http://h:9000", "ws://h:9000/subscribe"),
        ("https://[::1]:8443", "https://[::1]:8443", "wss://[::1]:8443/subscribe"),
        ("http://h/behind/proxy/", "http://h/behind/proxy", "ws://h/behind/proxy/subscribe"),
    ],
)
def test_one_url_serves_all_commands(url: str, base: str, socket: str) -> None:
    assert (base_url(url), subscribe_url(base_url(url))) == (base, socket)


def test_login_asks_once_and_is_for_its_user_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with listening() as port:
        assert main(["login", f"ws://{LOOPBACK}:{port}/subscribe"]) == 0
        file = login_file(os.environ)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert settled()[0] == f"http://{LOOPBACK}:{port}"
        assert main(["login", "http://127.0.0.1:1"]) == 1  # what is remembered stays
        assert settled()[0] == f"http://{LOOPBACK}:{port}"
    assert main(["logout"]) == 0
    assert main(["logout"]) == 0
    assert "nobody has logged in" in capsys.readouterr().out
    assert settled()[0] == "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    "text", ["", "[]", '{"x": 1}', "\ud800".encode("utf-8", "replace").decode()]
)
def test_a_login_that_is_none_says_so(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = login_file(os.environ)
    file.parent.mkdir(parents=True)
    file.write_text(text)
    with pytest.raises(ConfigurationError):
        Login.read(os.environ)
    assert main(["query", "ASK {}"]) == 1
    assert "sosa-gateway login" in capsys.readouterr().err


def test_the_true_cause_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(url: str, *more: str) -> str:
        assert main(["login", url, *more]) == 1
        return capsys.readouterr().err

    own = OwnCertificate(home / "tls", lambda: ("localhost", LOOPBACK))
    with listening(own.context) as port:
        assert "is not trusted" in told(f"https://{LOOPBACK}:{port}")
        assert "--ca FILE" in told(f"https://{LOOPBACK}:{port}")
        assert "speaks TLS" in told(f"http://{LOOPBACK}:{port}")
        assert "write https://" in told(f"http://{LOOPBACK}:{port}")
        ca = ("--ca", str(own.ca_path))
        assert main(["login", f"https://{LOOPBACK}:{port}", *ca]) == 0
        assert main(["subscribe", "ASK {}", "--url", f"ws://{LOOPBACK}:{port}"]) == 1
        assert "speaks TLS" in capsys.readouterr().err
    late = OwnCertificate(home / "late", lambda: (LOOPBACK,), lambda: NEXT_YEAR)
    with listening(late.context) as port:  # the clock of who asks is behind
        assert "is not yet valid" in told(f"https://{LOOPBACK}:{port}", "--ca", str(late.ca_path))
        assert "timedatectl" in told(f"https://{LOOPBACK}:{port}", "--ca", str(late.ca_path))
    named = OwnCertificate(home / "named", lambda: ("hall.lan",))
    with listening(named.context) as port:
        assert "[http] hosts" in told(f"https://{LOOPBACK}:{port}", "--ca", str(named.ca_path))
    with listening() as port:
        assert "does not speak TLS" in told(f"https://{LOOPBACK}:{port}")
    assert "there is no host 'nowhere.invalid'" in told("http://nowhere.invalid")
    assert "nothing listens" in told("http://127.0.0.1:1")
    for scheme in ("https", "http"):  # what is named is looked at, needed or not
        assert "cannot use" in told(f"{scheme}://127.0.0.1:1", "--ca", "absent.crt")
    with listening(is_closed=True) as port:
        assert "--credentials FILE" in told(f"http://{LOOPBACK}:{port}")


def test_a_long_text_without_spaces_is_no_file(home: Path) -> None:
    (home / "a.rq").write_text("ASK {}")
    assert read_text(long := f"ASK{{<urn:{'a' * 5_000}><urn:b>1}}") == long
    with pytest.raises(BadRequestError, match=r"a\.rq is a file, and no SPARQL \(write @a\.rq\)"):
        read_text("a.rq")
    assert read_text("@a.rq") == "ASK {}"
