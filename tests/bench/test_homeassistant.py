"""The benchmark of Home Assistant, small: what is told is retained."""

from bench.homeassistant import path


def test_each_reading_is_told_and_retained() -> None:
    each, seldom = path.measure(20)
    assert each.matches
    assert seldom.matches
    names = [figure.name for figure in each.figures]
    assert names == ["noted", "taken up", "told and retained", "all"]
