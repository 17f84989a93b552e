"""The demo of several gateways: they join, answer together, and one is unplugged."""

import signal

import pytest

from tests.gateway.demo.test_demo import END_TIMEOUT_S, read_until, started

pytest.importorskip("zenoh", reason="the extra federation is not installed")
pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("ports of the demo")]


def test_gateways_join_and_answer_through_an_unplugged_cable() -> None:
    with started("demo", "--gateways", "3") as process:
        read_until(process, "hall$ sosa-gateway federation join")
        read_until(process, "all 3 hear each other")
        read_until(process, "+ kitchen 30")
        read_until(process, "attic is unplugged")
        read_until(process, "attic is plugged in again")
        assert "+ kitchen 40" in read_until(process, "- kitchen 30")
        process.send_signal(signal.SIGINT)
        assert process.wait(END_TIMEOUT_S) == 0
