"""What the demo writes to: a live screen on a terminal, plain lines everywhere else.

Place: the outermost part of the demo, there before anything else is loaded, so that something moves
at once. The screen is the terminal's alternate one, drawn by a thread of its own; only lines that
have changed are written. Whatever ends the demo, the terminal is left as it was found.
"""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import StringIO, TextIOWrapper
from itertools import count
from threading import Event, Lock, Thread
from time import monotonic
from types import FrameType, TracebackType
from typing import Self

from rich.console import Console
from rich.text import Text

FRAME_S = 0.125
NAME = "sosa-gateway demo"
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

_ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
"""The alternate screen, no cursor, and no line is continued on the next one."""

_HOME = "\x1b[H"
"""Where the cursor waits: what is typed scrolls nothing away, and the next frame is over it."""

_REPAINTED_EVERY = 16
"""Frames; then lines are written that have not changed, too."""

_LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"

Picture = Callable[[int, int], Sequence[Text]]
"""The lines of a screen of a width and a height; called in the thread that draws."""


class Terminal:
    """A context manager; lines that are said while the screen is up are printed when it is left."""

    def __init__(self, *, plain: bool = False) -> None:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal that has no arrows gets "?"
        self.console = Console(highlight=False, soft_wrap=True)
        is_screen = self.console.is_terminal and not self.console.is_dumb_terminal
        self.is_live = is_screen and not plain
        self.started = monotonic()
        self._stages: list[tuple[str, float]] = []
        self._screen = _Screen(self.console, self._starting)
        self._said: list[str] = []
        self._errors = StringIO()
        self._stderr = sys.stderr

    def __enter__(self) -> Self:
        if self.is_live:
            signal.signal(signal.SIGTERM, _exit)
            sys.stderr = self._errors
            try:
                self._screen.enter()
            except BaseException:  # Ctrl-C may come as early as this
                self._screen.leave()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self.is_live:
            return
        self._screen.leave()
        sys.stderr = self._stderr
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with suppress(OSError):  # a terminal that is gone
            for line in self._said:
                self.console.print(line, markup=False)
            sys.stderr.write(self._errors.getvalue())
        if self._screen.fault is not None and error is None:
            raise self._screen.fault

    def say(self, line: str) -> None:
        """A line of text, at once or after the screen."""
        if self.is_live:
            self._said.append(line)
        else:
            self.console.print(line, markup=False)

    def stage(self, name: str) -> None:
        """The demo now gets this ready; what it got ready before is done."""
        if not self._stages and not self.is_live:
            self.say(f"{NAME}: starting")
        self._stages.append((name, monotonic()))

    def show(self, picture: Picture) -> None:
        """Have this on the screen from now on."""
        self._screen.picture = picture

    def suspend(self) -> None:
        """Stop as Ctrl-Z does it, with the terminal as it was; go on when continued."""
        self._screen.leave()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._screen.enter()

    def _starting(self, _width: int, height: int) -> Sequence[Text]:
        """The stages with the time that each took, the last one moving; what was said below."""
        now = monotonic()
        stages = list(self._stages)
        ends = [begun for _, begun in stages[1:]] + [now]
        lines = [heading(now - self.started, "starting"), Text()]
        for number, ((name, begun), end) in enumerate(zip(stages, ends, strict=False), start=1):
            is_done = number < len(stages)
            sign, style = ("✓", "green") if is_done else (spinner(now), "bold")
            lines.append(Text.assemble(f"  {end - begun:5.1f} s  ", (f"{sign} {name}", style)))
        return [*lines, *(Text(f"  {each}") for each in self._said)][:height]


class _Screen:
    """Draws a picture again and again while it is entered."""

    def __init__(self, console: Console, picture: Picture) -> None:
        self._console = console
        self.picture = picture
        self._drawing = Lock()
        self._end = Event()
        self._thread: Thread | None = None
        self._shown: list[str] = []
        self._size = (0, 0)
        self.fault: Exception | None = None

    def enter(self) -> None:
        self._end.clear()
        self._shown, self._size = [], (0, 0)
        self._write(_ENTER)
        self._thread = Thread(target=self._run, name="demo-screen", daemon=True)
        self._thread.start()

    def leave(self) -> None:
        thread, self._thread = self._thread, None
        self._end.set()
        if thread is not None:
            thread.join()
        self._write(_LEAVE)

    def _run(self) -> None:
        """A picture that cannot be drawn ends the demo, as nothing would move any more."""
        try:
            self._draw()
            for number in count(1):
                if self._end.wait(FRAME_S):
                    return
                self._draw(is_repainted=number % _REPAINTED_EVERY == 0)
        except Exception as error:
            self.fault = error
            os.kill(os.getpid(), signal.SIGTERM)

    def _draw(self, *, is_repainted: bool = False) -> None:
        """Write the lines that differ from those of the last frame, or all."""
        size = self._console.size
        if (size.width, size.height) != self._size:
            self._size, self._shown = (size.width, size.height), []
            self._write("\x1b[2J")
        lines = render(self.picture(*self._size)[: size.height], size.width, self._console)
        blank = " " * size.width
        lines += [blank] * (len(self._shown) - len(lines))
        before = self._shown + [blank] * (len(lines) - len(self._shown))
        self._write(
            "".join(
                f"\x1b[{number};1H{new}"
                for number, (new, old) in enumerate(zip(lines, before, strict=True), start=1)
                if new != old or is_repainted
            )
            + _HOME
        )
        self._shown = lines

    def _write(self, text: str) -> None:
        """A terminal that is gone is no fault; its SIGHUP ends the demo."""
        with suppress(OSError, ValueError), self._drawing:
            self._console.file.write(text)
            self._console.file.flush()


def render(lines: Sequence[Text], width: int, console: Console) -> list[str]:
    """Each line as the terminal takes it, `width` columns wide, without a line break."""
    paper = StringIO()
    pen = Console(
        file=paper,
        width=width,
        force_terminal=True,
        color_system="standard" if console.color_system else None,
        no_color=console.no_color,
        highlight=False,
        legacy_windows=False,
    )
    rendered = []
    for line in lines:
        cut = line.copy()
        cut.truncate(width, overflow="ellipsis", pad=True)
        pen.print(cut, end="", soft_wrap=True)
        rendered.append(paper.getvalue())
        paper.seek(0)
        paper.truncate()
    return rendered


def heading(elapsed_s: float, *told: str) -> Text:
    """The first line: the name, a clock that moves, what there is to be told."""
    minutes, seconds = divmod(int(elapsed_s), 60)
    clock = f" {spinner(elapsed_s)} {minutes}:{seconds:02}"
    return Text.assemble(" ", (NAME, "bold"), clock, *(f"   {each}" for each in told))


def spinner(seconds: float) -> str:
    """A sign that is another one in each frame."""
    return SPINNER[int(seconds / FRAME_S) % len(SPINNER)]


def _exit(number: int, frame: FrameType | None) -> None:
    del frame
    sys.exit(128 + number)
