"""The demo's screen in a terminal, as a person sees it, from the first moment to the shell."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from io import StringIO
from pathlib import Path
from threading import Event

import pytest
from rich.text import Text

from gateway.demo.terminal import Terminal, heading
from tests.gateway.demo.emulated import Emulated, emulated
from tests.kit.gateways import free_port
from tests.paths import ROOT

GATEWAY = [sys.executable, "-W", "error", "-m", "gateway"]
TITLES = [2, 5, 8, 16]
"""The lines of a screen of 24 that are titles."""

CONFIRMED = re.compile(
    r" office too warm \(\S+ °C\), nobody in → fan7 on → confirmed in \d+\.\d\d s +\S+ s"
)
STEP_S = 30
CHANGES_S = 120.0
"""So long may it take on a busy machine until the house has changed forty times."""

WHERE = "next, each in a terminal of its own:"


def environment(folder: Path) -> dict[str, str]:
    sections = ("MQTT", "HTTP", "WEBSOCKET")
    ports = {f"SOSA_GATEWAY_{name}__PORT": str(free_port()) for name in sections}
    own = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "PYTHONPATH": str(ROOT)}
    return {**ports, **own, "PYTHONWARNINGS": "error"}


def titles(lines: list[str]) -> list[int]:
    return [number for number, line in enumerate(lines) if line.startswith("── ")]


@pytest.mark.alone
@pytest.mark.end_to_end
def test_the_demo_convinces_in_twenty_seconds(tmp_path: Path) -> None:
    """It moves while it loads, shows cause and effect, fits, and leaves what to type next."""
    around = environment(tmp_path)
    with emulated([*GATEWAY, "demo"], around, tmp_path) as screen:
        moves_while_it_loads(screen)
        shows_cause_and_effect_in_a_fixed_pane(screen)
        assert screen.raw.count(b"\x1b[2J") <= 2, "no frame begins with an empty screen"
        assert b"\x1b[K" not in screen.raw, "behind a full line it erases the last column"
        assert screen.styles <= {"", "0", "1", "2", "31", "32"}
        fits_another_size(screen)
        mends_what_was_typed_over_it(screen)
        screen.suspend()
        after = screen.end(signal.SIGINT)
    assert screen.process.returncode == 0
    assert screen.is_left_as_it_was
    assert "Traceback" not in after
    says_what_to_type_next(after, around, tmp_path)


def moves_while_it_loads(screen: Emulated) -> None:
    moved = {
        lines[0].partition("starting")[0]
        for lines in screen.each(lambda lines: any("store" in line for line in lines))
        if any("program" in line for line in lines)
    }
    assert len(moved) >= 3


def shows_cause_and_effect_in_a_fixed_pane(screen: Emulated) -> None:
    screen.until(titles)
    for lines in screen.each(lambda lines: any(map(CONFIRMED.fullmatch, lines))):
        assert titles(lines) == TITLES
    dialects = screen.until(lambda lines: all(line[14:].strip() for line in lines[9:16]))
    assert len({line[1:13].strip() for line in dialects[9:16]}) == 7
    quarantined = screen.until(lambda lines: lines[7])
    screen.keep("demo.svg")
    assert re.match(r" [a-z_0-9]+, \S+: .* s", quarantined[7])
    lines = screen.until(lambda lines: all(line[1:2] in "+-" and line for line in lines[20:24]))
    assert titles(lines) == TITLES
    minutes, seconds = re.findall(r"(\d+):(\d\d)", lines[0])[0]
    assert (minutes, int(seconds) <= 20) == ("0", True)


def fits_another_size(screen: Emulated) -> None:
    """Where there is room for them there are more rows; `lines` fails beyond the edges."""
    for width, height, rows in ((50, 12, 12), (132, 50, 40)):
        screen.resize(width, height)
        filled = lambda lines, rows=rows: sum(map(bool, lines)) >= rows  # noqa: E731
        assert screen.until(filled, CHANGES_S)


def mends_what_was_typed_over_it(screen: Emulated) -> None:
    seen = len(screen.raw)
    screen.type_in("typed\ntyped\n")
    screen.until(lambda _: b"typed" in screen.raw[seen:])  # what mends it may come with it
    screen.until(lambda lines: not any("typed" in line for line in lines))


def says_what_to_type_next(after: str, around: Mapping[str, str], folder: Path) -> None:
    """The three commands are typed as they stand, in the same folder."""
    before, _, told = after.replace("\r\n", "\n").partition(f"{WHERE}\n")
    assert "readings" in before
    run, subscribe, update = told.splitlines()
    variables = {**os.environ, **around}
    typed = {name: variables[name] for name in variables if not name.startswith("SOSA_GATEWAY")}

    def type_in(command: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            ["bash", "-c", f"exec env {command}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=typed,
            text=True,
        )

    with ExitStack() as ending:
        gateway = type_in(run)
        ending.callback(end, gateway)
        assert any("serving" in line for line in gateway.stderr or ())
        subscriber = type_in(subscribe)
        ending.callback(end, subscriber)
        updater = type_in(update)
        _, wrong = updater.communicate(timeout=STEP_S)
        assert (updater.returncode, wrong) == (0, "")
        assert subscriber.stdout is not None
        assert "urn:kitchen" in subscriber.stdout.readline()


def end(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=STEP_S)


@pytest.mark.end_to_end
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_it_loads_leaves_the_terminal_as_it_was(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    # A module that was being read when the signal came is closed by whoever collects it.
    around = {**environment(tmp_path), "PYTHONWARNINGS": "error,ignore::ResourceWarning"}
    with emulated([*GATEWAY, "demo"], around, tmp_path) as screen:
        screen.until(lambda lines: any("program" in line for line in lines))
        after = screen.end(number)
    # CPython ends by SIGINT itself where it came within an exec, as that of a dataclass.
    assert screen.process.returncode in {status, -number}
    assert screen.is_left_as_it_was
    assert "Traceback" not in after


def a_terminal(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """What standard output is from now on; it says that it is a terminal."""
    out = StringIO()
    monkeypatch.setattr(out, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return out


@pytest.mark.parametrize(
    ("term", "plain", "is_live"),
    [("xterm-256color", False, True), ("xterm-256color", True, False), ("dumb", False, False)],
)
def test_a_screen_is_drawn_where_there_is_a_terminal_that_can(
    monkeypatch: pytest.MonkeyPatch, term: str, plain: bool, is_live: bool
) -> None:
    out = a_terminal(monkeypatch)
    monkeypatch.setenv("TERM", term)
    with Terminal(plain=plain) as terminal:
        terminal.stage("program")
        assert terminal.is_live == is_live
    assert ("\x1b" in out.getvalue()) == is_live


def test_no_terminal_gets_lines_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with Terminal() as terminal:
        terminal.stage("program")
        terminal.stage("store")
        terminal.say("[bold]ready[/]")
        assert capsys.readouterr().out == "sosa-gateway demo: starting\n[bold]ready[/]\n"


def test_what_is_said_and_what_went_wrong_stands_after_the_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = a_terminal(monkeypatch)
    with pytest.raises(ValueError, match="broken"), Terminal() as terminal:  # noqa: PT012
        terminal.say("said")
        sys.stderr.write("logged\n")
        assert "said" not in out.getvalue()
        raise ValueError("broken")
    screen, left, after = out.getvalue().rpartition("\x1b[?7h\x1b[?25h\x1b[?1049l")
    assert "said" not in screen
    assert (bool(left), after) == (True, "said\n")
    assert capsys.readouterr().err == "logged\n"


def test_a_picture_that_cannot_be_drawn_ends_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that draws asks the process to end, and what was wrong is raised then."""
    out = a_terminal(monkeypatch)

    def broken(width: int, height: int) -> list[Text]:
        raise ZeroDivisionError

    ended = Event()
    with pytest.raises(ZeroDivisionError), Terminal() as terminal:  # noqa: PT012
        signal.signal(signal.SIGTERM, lambda *_: ended.set())
        terminal.show(broken)
        assert ended.wait(STEP_S)
    assert out.getvalue().endswith("\x1b[?1049l")


def test_signs_that_a_terminal_lacks_are_question_marks() -> None:
    command = [
        *GATEWAY[:3],
        "-c",
        "from gateway.demo.terminal import Terminal as T; T().say('→ °C')",
    ]
    variables = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONPATH": str(ROOT)}
    told = subprocess.run(command, env=variables, capture_output=True, check=True).stdout
    assert told == "? °C\n".encode("latin-1")


def test_a_clock_moves_with_every_frame() -> None:
    first, second = (heading(at).plain for at in (61.0, 61.13))
    assert first != second
    assert first.endswith(" 1:01")
    assert second.endswith(" 1:01")
