"""A range that will hold more than it may is told of before it does."""

from pyoxigraph import Literal, NamedNode, Triple

from gateway.engine.windowed.over import told
from gateway.windows import Element, Streams, Window, WindowLimits
from gateway.windows.budget import overfilled
from gateway.windows.durations import SECOND_US
from gateway.windows.info import WindowInfo

HOUR = Window("urn:s", "PT1H", limit=1000)


def info_after(window: Window, seconds: int, per_second: int) -> WindowInfo:
    """What is known of a window whose stream had elements for so long."""
    streams = Streams(WindowLimits(elements=100_000))
    content = streams.open(window, 0)
    for second in range(1, seconds + 1):
        elements = [
            Element((Triple(NamedNode("urn:s"), NamedNode("urn:p"), Literal(f"{second}.{each}")),))
            for each in range(per_second)
        ]
        streams.step(second * SECOND_US, {"urn:s": elements})
    return content.info()


def test_range_is_compared_with_the_least_of_its_limits() -> None:
    limits = WindowLimits(elements=2000)
    assert overfilled(HOUR, 0.5, limits).endswith("PT1H will be 1800, of 1000 that it may have")
    assert overfilled(Window("urn:s", "PT1H"), 1, limits).endswith("of 2000 that it may have")
    assert overfilled(HOUR, 0.1, limits) == ""
    assert overfilled(Window("urn:s", triples=5), 1000, limits) == ""


def test_window_that_fills_too_fast_says_so() -> None:
    info = info_after(HOUR, 60, 3)
    assert "PT1H will be 1" in info.warning
    assert told(info)["warning"] == info.warning
    assert info.warning in str(info)


def test_what_is_complete_or_just_begun_says_nothing() -> None:
    assert info_after(HOUR, 5, 30).warning == ""
    assert info_after(Window("urn:s", "PT30S", limit=120), 60, 3).warning == ""
    quiet = info_after(HOUR, 120, 0)
    assert quiet.warning == ""
    assert "warning" not in told(quiet)
