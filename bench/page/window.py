"""`Window`: the page in a browser without a window, and what is seen and measured of it.

Place on the way of the data: behind the gateway's HTTP and WebSocket, as a person's browser is.
Sources: W3C Long Tasks, Performance Timeline; Chrome DevTools Protocol, Emulation and Performance.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bench.processes import ChildFailedError
from bench.report import Figure
from gateway.dashboard import STATIC

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page

PATIENCE_S = 120.0
_LOOK_S = 0.25

_WATCH = """
window.seen = {tasks: [], frame: null, lines: null};
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) window.seen.tasks.push([each.startTime, each.duration]);
}).observe({type: 'longtask', buffered: true});
for (const [name, shown] of [['frame', 'nav a'], ['lines', '.line .digits']]) {
  new MutationObserver((_, self) => {
    if (!document.querySelector(shown)) return;
    self.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window.seen[name] = performance.now(); }));
  }).observe(document, {childList: true, subtree: true});
}
"""
_SCROLL = """
(ms) => new Promise((done) => {
  const start = performance.now();
  const page = document.documentElement;
  let [frames, step, last, longest] = [0, 40, start, 0];
  const frame = (now) => {
    longest = Math.max(longest, now - last);
    last = now;
    frames += 1;
    if (window.scrollY + window.innerHeight >= page.scrollHeight - 1) step = -40;
    else if (window.scrollY === 0) step = 40;
    window.scrollBy(0, step);
    if (now - start < ms) requestAnimationFrame(frame);
    else done([frames / (now - start) * 1000, longest]);
  };
  requestAnimationFrame(frame);
})
"""
_COLLECT = """
async () => {
  const found = {};
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  for (let at = 0; ; at += window.innerHeight) {
    window.scrollTo(0, at);
    await frame();
    await frame();
    for (const line of document.querySelectorAll('.line')) {
      found[line.dataset.stream] = line.querySelector('.value').textContent.trim();
    }
    if (at + window.innerHeight >= document.documentElement.scrollHeight) break;
  }
  window.scrollTo(0, 0);
  return found;
}
"""


def missing() -> str:
    """What a window would need and this machine lacks; empty for nothing."""
    if find_spec("playwright") is None:
        return "playwright is not installed"
    if shutil.which("chromium") is None:
        return "chromium is not installed"
    if not (STATIC / "index.html").is_file():
        return "the page is not built: make dashboard"
    return ""


@contextmanager
def browser() -> Iterator["Browser"]:
    """Chromium as the system has it."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # only where it is there

    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    with sync_playwright() as playwright:
        one = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*sandbox, "--disable-gpu"]
        )
        try:
            yield one
        finally:
            one.close()


@dataclass(frozen=True, slots=True)
class Scrolled:
    """Frames a second, the longest between two, and the main thread's CPU for one."""

    frames: float
    longest_ms: float
    cpu_ms: float

    def figures(self) -> tuple[Figure, ...]:
        """For people."""
        return (
            Figure("frames while scrolling", self.frames, "/s", "goal: at least 50"),
            Figure("longest between two", self.longest_ms, "ms"),
            Figure("main thread for one", self.cpu_ms, "ms CPU", "50/s leave it 20 ms"),
        )


@dataclass(frozen=True, slots=True)
class Window:
    """A page that shows Now."""

    page: "Page"
    tools: "CDPSession"

    def lines_ms(self) -> float:
        """From the start of loading until lines are drawn and the next event is taken."""
        for _ in range(int(PATIENCE_S / _LOOK_S)):
            if (lines := self.page.evaluate("window.seen.lines")) is not None:
                return float(lines)
            self.wait(_LOOK_S)
        raise ChildFailedError(f"the page shows no line after {PATIENCE_S:g} s")

    def frame_ms(self) -> float:
        """From the start of loading until the pages can be chosen; to be asked after `lines_ms`."""
        return float(self.page.evaluate("window.seen.frame"))

    def tasks_ms(self, from_ms: float) -> list[float]:
        """How long the tasks above 50 ms took that began since then; longest last."""
        tasks = self.page.evaluate("window.seen.tasks")
        return sorted(took for start, took in tasks if start >= from_ms)

    def now_ms(self) -> float:
        """The window's clock."""
        return float(self.page.evaluate("performance.now()"))

    def scroll(self, seconds: float) -> "Scrolled":
        """Scroll at every frame, 40 px each."""
        before = self.cpu_s()
        rate, longest = self.page.evaluate(_SCROLL, seconds * 1000)
        cpu_ms = 1000 * (self.cpu_s() - before) / (rate * seconds)
        return Scrolled(float(rate), float(longest), cpu_ms)

    def heap_bytes(self) -> float:
        """What scripts hold, after a collection."""
        self.tools.send("HeapProfiler.collectGarbage")
        return self._metric("JSHeapUsedSize")

    def cpu_s(self) -> float:
        """What the main thread has used: unlike the clock it does not count who else is busy."""
        return self._metric("TaskDuration")

    def _metric(self, name: str) -> float:
        told: Any = self.tools.send("Performance.getMetrics")
        return float(next(each["value"] for each in told["metrics"] if each["name"] == name))

    def wait(self, seconds: float) -> None:
        """Let the window live so long."""
        self.page.wait_for_timeout(seconds * 1000)

    def table(self) -> Mapping[str, str]:
        """What it shows: a stream's key to its value with unit, from the first line to the last."""
        found: dict[str, str] = self.page.evaluate(_COLLECT)
        return found


@contextmanager
def window(own: "Browser", url: str, slower: float = 1.0) -> Iterator[Window]:
    """The page at Now; with its processor so many times slower."""
    page = own.new_page(viewport={"width": 1280, "height": 800})
    try:
        tools = page.context.new_cdp_session(page)
        tools.send("Performance.enable", {"timeDomain": "threadTicks"})
        tools.send("Emulation.setCPUThrottlingRate", {"rate": slower})
        page.add_init_script(_WATCH)
        page.goto(f"{url}/#/now")
        yield Window(page, tools)
    finally:
        page.close()
