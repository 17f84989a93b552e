"""gateway.cli.command: commands, their output and their exit codes."""

import io
import json
import logging
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from rich.console import Console
from websockets.sync.server import ServerConnection, serve

from gateway import __version__
from gateway.app.logs import OURS, JsonLines, TextLines, configure_logs
from gateway.cli.asking import service
from gateway.cli.command import main
from gateway.config.settings import LogSettings
from tests.paths import ROOT

HEAD = {"vars": ["room", "t"]}
ROW = {
    "room": {"type": "uri", "value": "urn:office"},
    "t": {
        "type": "literal",
        "value": "21.5",
        "datatype": "http://www.w3.org/2001/XMLSchema#decimal",
    },
}
ANSWER = {"head": HEAD, "results": {"bindings": [ROW]}}
NOTHING = {"head": HEAD, "results": {"bindings": []}}
REFUSAL = {"error": "sparql_syntax", "error_description": "no }", "status_code": 400}


@dataclass
class Endpoint:
    """A SPARQL endpoint that answers one thing and keeps what it was sent."""

    status: int = 200
    body: str = json.dumps(ANSWER)
    seen: list[tuple[str, str, str, str]] = field(default_factory=list)
    url: str = ""


@contextmanager
def endpoint(answers: Endpoint) -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            kind, accept = self.headers["Content-Type"], self.headers["Accept"]
            answers.seen.append((self.path, kind, accept, text))
            body = answers.body.encode()
            self.send_response(answers.status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            """Tests are quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        answers.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield answers
        server.shutdown()
        thread.join()


@contextmanager
def subscriptions(*messages: object) -> Iterator[tuple[str, list[Any]]]:
    """A WebSocket that takes one request, sends the messages and closes."""
    seen: list[Any] = []

    def converse(socket: ServerConnection) -> None:
        seen.append(json.loads(socket.recv()))
        for message in messages:
            socket.send(json.dumps(message))

    with serve(converse, "127.0.0.1", 0) as server:
        port = server.socket.getsockname()[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"ws://127.0.0.1:{port}/subscribe", seen
        server.shutdown()
        thread.join()


def notification(sequence: int, added: object, removed: object) -> dict[str, object]:
    members = {"spuid": "urn:1", "sequence": sequence, "addedResults": added}
    return {"notification": {**members, "removedResults": removed}}


@pytest.fixture(autouse=True)
def any_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a gateway may listen whatever else runs on this machine."""
    for section in ("MQTT", "HTTP", "WEBSOCKET"):
        monkeypatch.setenv(f"SOSA_GATEWAY_{section}__PORT", "0")


def configured(folder: Path, text: str) -> list[str]:
    path = folder / "gateway.toml"
    path.write_text(text, encoding="utf-8")
    return ["--config", str(path)]


def profiled(folder: Path, **members: object) -> list[str]:
    profile = {"host": "127.0.0.1", **members}
    (folder / "own.jsap").write_text(json.dumps(profile), encoding="utf-8")
    return configured(folder, '[jsap]\nprofiles = ["observations", "own.jsap"]\n')


def mapping(**changes: str) -> dict[str, str]:
    given = {"id": "urn:m", "topic": "t/+", "format": "scalar"}
    return {**given, "sensor": "urn:s", "property": "urn:p", "feature": "urn:f", **changes}


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    assert capsys.readouterr().out == f"{__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "required: COMMAND"),
        (["demo", "--speed", "-1"], "'-1' is not a number of 0 or more"),
        (["demo", "--duration", "nan"], "'nan' is not a number of 0 or more"),
        (["query"], "required: TEXT|@FILE"),
    ],
)
def test_wrong_usage_is_told(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "told"),
    [("qurey", "did you mean query?"), ("dance", "--help lists them"), ("", "COMMAND")],
)
def test_a_command_that_there_is_not(
    typed: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with suppress(SystemExit):
        assert main([typed] if typed else []) == 2
    assert told in capsys.readouterr().err


def test_the_version_is_told_as_people_ask_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert (caught.value.code, capsys.readouterr().out) == (0, f"{__version__}\n")


def test_every_command_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    told = capsys.readouterr().out
    for command in ("run", "demo", "check", "query", "update", "subscribe", "bench", "mqtt-user"):
        assert re.search(rf"^    {command}\b", told, re.MULTILINE)


def test_check_of_the_defaults_finds_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *configured(tmp_path, "")]) == 0
    assert capsys.readouterr().out == "all is well\n"


def test_check_of_the_profile_of_the_demo_finds_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = ROOT / "gateway" / "demo" / "demo.jsap"
    text = f'[jsap]\nprofiles = ["observations", {json.dumps(str(demo))}]\n'
    assert main(["check", *configured(tmp_path, text)]) == 0
    assert capsys.readouterr().out == "all is well\n"


def test_check_of_a_wrong_setting_tells_file_line_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *configured(tmp_path, "[http]\nprot = 1\n")]) == 1
    told = capsys.readouterr().out
    assert "gateway.toml:2: http.prot: unknown setting; did you mean 'port'?" in told


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"queries": {"Q": {"sparql": "SELECT * {"}}}, "own.jsap: queries.Q.sparql: "),
        ({"updates": {"U": {"sparql": "INSERT"}}}, "own.jsap: updates.U.sparql: "),
        ({"queries": 3}, "own.jsap"),
        (
            {"extended": {"mappings": [mapping(format="morse")]}},
            "own.jsap: extended.mappings[0].format: mapping <urn:m>, format",
        ),
        ({"extended": {"mappings": [{"id": "urn:m"}]}}, "extended.mappings[0]"),
        (
            {
                "extended": {
                    "rules": [
                        {"id": "urn:r", "query": "NO", "topic": "t", "payload": "", "on": "added"}
                    ]
                }
            },
            "no query NO",
        ),
    ],
)
def test_check_of_a_wrong_profile_tells_its_place(
    tmp_path: Path,
    members: dict[str, object],
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", *profiled(tmp_path, **members)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("error: ") and told in line for line in lines)
    assert re.match("[1-9] errors, ", lines[-1])


def test_jsap_schema_is_json_and_check_tells_place_and_strictness(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["jsap", "schema"]) == 0
    assert json.loads(capsys.readouterr().out)["properties"]["updates"]
    path = tmp_path / "own.jsap"
    members: dict[str, Any] = {"host": "h", "graphs": {"named-graph-uri": "urn:g"}}
    path.write_text(json.dumps(members), encoding="utf-8")
    assert main(["jsap", "check", str(path)]) == 0
    assert "warning: " in capsys.readouterr().out
    assert main(["jsap", "check", "--strict", str(path)]) == 1
    assert "graphs.named-graph-uri: write a list of texts" in capsys.readouterr().out
    members["sparql11seprotocol"] = {"protocol": "wss", "availableProtocols": {"ws": {}}}
    members["queries"] = {"Q": {"sparql": "SELECT * { ?s ?p }"}}
    path.write_text(json.dumps(members), encoding="utf-8")
    assert main(["jsap", "check", str(path)]) == 1
    told = capsys.readouterr().out
    assert f"error: {path}: queries.Q.sparql: " in told
    assert f"error: {path}: queries.Q: no wss, which `protocol` names; add it" in told
    assert main(["jsap", "check", str(tmp_path / "absent.jsap")]) == 1
    assert "absent.jsap" in capsys.readouterr().out


def test_check_without_the_queries_that_the_gateway_needs_tells_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profiled(tmp_path)
    assert main(["check", *configured(tmp_path, '[jsap]\nprofiles = ["own.jsap"]\n')]) == 1
    assert 'put "observations" first in [jsap] profiles' in capsys.readouterr().out


def test_check_of_an_absent_profile_tells_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *configured(tmp_path, '[jsap]\nprofiles = ["absent.jsap"]\n')]) == 1
    assert f"error: {tmp_path / 'absent.jsap'}: " in capsys.readouterr().out


def test_check_of_an_absent_password_file_tells_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOSA_GATEWAY_MQTT__PORT", "1")
    text = '[mqtt]\nmode = "external"\npassword_file = "secret"\n'
    assert main(["check", *configured(tmp_path, text)]) == 1
    assert "mqtt.password_file: cannot read" in capsys.readouterr().out


def test_query_sends_the_text_and_prints_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(Endpoint()) as server:
        assert main(["query", "SELECT * {}", "--url", server.url]) == 0
    assert json.loads(capsys.readouterr().out) == ANSWER
    ((path, kind, accept, text),) = server.seen
    assert (path, kind) == ("/query", "application/sparql-query; charset=utf-8")
    assert (accept, text) == ("application/sparql-results+json", "SELECT * {}")


def test_query_asks_for_the_format_that_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(Endpoint(body="room,t\r\n")) as server:
        assert main(["query", "SELECT * {}", "--format", "csv", "--url", server.url]) == 0
    assert server.seen[0][2] == "text/csv"
    assert capsys.readouterr().out.split() == ["room,t"]


def test_query_prints_a_table_when_one_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(Endpoint()) as server:
        assert main(["query", "SELECT * {}", "--format", "table", "--url", server.url]) == 0
    told = capsys.readouterr().out
    assert "<urn:office>" in told
    assert "21.5" in told


@pytest.mark.parametrize(
    ("body", "shown"),
    [('{"head":{},"boolean":true}', "true\n"), ("<urn:s> <urn:p> 1 .", "<urn:s> <urn:p> 1 .\n")],
)
def test_a_table_of_what_is_no_table_is_its_text(body: str, shown: str) -> None:
    out = io.StringIO()
    service.print_table(Console(file=out), body)
    assert out.getvalue() == shown


def test_update_sends_the_file_and_prints_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "u.ru").write_text("INSERT DATA {}", encoding="utf-8")
    with endpoint(Endpoint(body='{"added":0}')) as server:
        assert main(["update", f"@{tmp_path / 'u.ru'}", "--url", server.url]) == 0
    assert capsys.readouterr().out == '{"added":0}\n'
    assert server.seen[0][:2] == ("/update", "application/sparql-update; charset=utf-8")
    assert server.seen[0][3] == "INSERT DATA {}"


def test_text_is_read_from_standard_input_when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("ASK {}"))
    assert service.read_text("@-") == "ASK {}"


def test_a_refusal_is_told_with_its_description(capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(Endpoint(400, json.dumps(REFUSAL))) as server:
        assert main(["query", "SELECT", "--url", server.url]) == 1
    assert capsys.readouterr().err == "error: sparql_syntax: no }\n"


def test_a_refusal_by_something_else_is_told_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(Endpoint(502, "")) as server:
        assert main(["query", "ASK {}", "--url", server.url]) == 1
    assert "502" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["query", "ASK {}", "--url", "http://127.0.0.1:1"], "nothing listens at 127.0.0.1:1"),
        (["subscribe", "ASK {}", "--url", "ws://127.0.0.1:1/"], "nothing listens at 127.0.0.1:1"),
        (["query", "ASK {}", "--url", "file:///etc"], "no URL of a gateway"),
        (["subscribe", "ASK {}", "--url", "http://127.0.0.1:1"], "nothing listens"),
        (["query", "@/absent.rq"], "cannot read /absent.rq"),
    ],
)
def test_what_cannot_be_done_is_told(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    assert told in capsys.readouterr().err


def test_subscribe_shows_rows_with_their_sign(capsys: pytest.CaptureFixture[str]) -> None:
    messages = (notification(0, ANSWER, {}), notification(1, NOTHING, ANSWER))
    with subscriptions(*messages) as (url, seen):
        assert main(["subscribe", "SELECT * {}", "--url", url]) == 0
    line = "?room=<urn:office>  ?t=21.5"
    assert capsys.readouterr().out == f"+ {line}\n- {line}\n"
    assert seen == [{"subscribe": {"sparql": "SELECT * {}"}}]


def test_subscribe_prints_notifications_as_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    first = notification(0, ANSWER, NOTHING)
    with subscriptions(first) as (url, _):
        assert main(["subscribe", "SELECT * {}", "--json", "--url", url]) == 0
    assert json.loads(capsys.readouterr().out) == first["notification"]


def test_subscribe_tells_a_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    with subscriptions(REFUSAL) as (url, _):
        assert main(["subscribe", "SELECT", "--url", url]) == 1
    assert "sparql_syntax: no }" in capsys.readouterr().err


def test_rows_are_coloured_on_a_terminal() -> None:
    out = io.StringIO()
    members = notification(1, ANSWER, ANSWER)["notification"]
    assert isinstance(members, dict)
    service.show_notification(out, members, colour=True)
    removed, added = out.getvalue().splitlines()
    assert removed.startswith("\x1b[31m- ")
    assert added.startswith("\x1b[32m+ ")


def test_rows_cannot_steer_the_terminal() -> None:
    out = io.StringIO()
    row = {"t": {"type": "literal", "value": "\x1b]0;x\x07"}}
    results = {"head": {"vars": ["t"]}, "results": {"bindings": [row]}}
    service.show_notification(out, {"addedResults": results}, colour=False)
    assert out.getvalue() == "+ ?t=\\x1b]0;x\\x07\n"


def test_mqtt_user_makes_a_line_that_verifies(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("hush\n"))
    assert main(["mqtt-user", "kitchen"]) == 0
    name, _, hashed = capsys.readouterr().out.partition(" = ")
    assert json.loads(name) == "kitchen"
    assert PasswordHasher().verify(json.loads(hashed), "hush")


def test_mqtt_user_refuses_an_empty_password(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert main(["mqtt-user", "kitchen"]) == 1
    assert "the password is empty" in capsys.readouterr().err


def record(**fields: object) -> logging.LogRecord:
    made = logging.LogRecord("gateway.x", logging.WARNING, "x.py", 1, "opened", None, None)
    vars(made).update(created=0.0, **fields)
    return made


def test_a_text_line_has_the_event_and_its_fields() -> None:
    line = TextLines().format(record(port=1, reason='a "b"', empty=""))
    head = "1970-01-01T00:00:00.000+00:00 WARNING gateway.x opened"
    assert line == f'{head} port=1 reason="a \\"b\\"" empty=""'


def test_a_text_line_stays_one_line() -> None:
    assert "\n" not in TextLines().format(record(reason="a\nb"))


def test_a_json_line_has_the_event_and_its_fields() -> None:
    assert json.loads(JsonLines().format(record(port=1, path=Path("x")))) == {
        "time": "1970-01-01T00:00:00.000+00:00",
        "level": "warning",
        "logger": "gateway.x",
        "event": "opened",
        "port": 1,
        "path": "x",
    }


def test_a_line_has_the_traceback_of_its_error() -> None:
    try:
        raise ValueError("why")
    except ValueError as error:
        made = record(exc_info=(type(error), error, error.__traceback__))
    assert TextLines().format(made).endswith("ValueError: why")
    assert json.loads(JsonLines().format(made))["error"].endswith("ValueError: why")


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[logging.Logger]:
    """The root logger, put back as it was after the test."""
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    levels = {name: logging.getLogger(name).level for name in ("", *OURS)}
    yield root
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def test_logs_below_the_level_are_left_out(
    logs: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(LogSettings(level="warning"))
    logging.getLogger("gateway.x").info("unheard")
    logging.getLogger("gateway.x").warning("heard")
    assert capsys.readouterr().err.endswith(" WARNING gateway.x heard\n")


def test_logs_of_libraries_are_heard_from_a_warning_on(
    logs: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(LogSettings(level="debug"))
    for name in ("gateway.x", "library"):
        logging.getLogger(name).debug("fine")
        logging.getLogger(name).warning("odd")
    told = [line.split(" ", 1)[1] for line in capsys.readouterr().err.splitlines()]
    assert told == ["DEBUG gateway.x fine", "WARNING gateway.x odd", "WARNING library odd"]


def test_bench_finds_the_checkout_that_it_stands_in(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--help"]) == 0
    assert "usage: sosa-gateway bench" in capfd.readouterr().out
