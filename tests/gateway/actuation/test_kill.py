"""kill -9 at each step of an actuation: nothing is executed twice, and each ends."""

import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.gateway.actuation.killed import CONFIRMED, NEVER, PUBLISHED, REQUESTED, SENT
from tests.gateway.actuation.lamps import lamp_profile
from tests.kit.gateways import LOOPBACK, Device, Program, mosquitto, wait_until

pytestmark = pytest.mark.alone

STEPS = {
    REQUESTED: (0, "failed", "the gateway was stopped before it was sent"),
    SENT: (0, "failed", "no reading confirmed it in 1.5 s"),
    PUBLISHED: (1, "confirmed", None),
    CONFIRMED: (1, "confirmed", None),
}


@pytest.mark.parametrize(
    "step",
    [
        PUBLISHED,
        pytest.param(SENT, marks=pytest.mark.slow),
        pytest.param(REQUESTED, marks=pytest.mark.slow),
        pytest.param(CONFIRMED, marks=pytest.mark.slow),
    ],
)
def test_killed_at_a_step_nothing_is_executed_twice(tmp_path: Path, step: str) -> None:
    executions, status, reason = STEPS[step]
    lamp_profile(tmp_path, timeLimit=1.5 if step == SENT else 20)
    with mosquitto(tmp_path) as broker, Device(broker.port, "lamp") as lamp:
        lamp.subscribe("lamp/set")
        with gateway(tmp_path, broker.port, step) as killed:
            ask = url(killed)
            with pytest.raises(httpx.TransportError) if step == REQUESTED else passing():
                httpx.post(f"{ask}/actuators/lamp/command", json={"value": True}, timeout=10)
            if executions:
                assert lamp.receive() == ("lamp/set", b"ON")
                lamp.send("lamp/state", b"ON")
            assert killed.wait() == -9
        with gateway(tmp_path, broker.port, NEVER) as restarted:
            ask = url(restarted)

            def entry() -> Any:
                return httpx.get(f"{ask}/actuators/lamp").json()["last"]

            wait_until(lambda: entry()["status"] == status)
            assert entry().get("reason") == reason
            assert ("sentAt" in entry()) is (step != REQUESTED)
            # What follows shows that nothing else was on its way.
            httpx.post(f"{ask}/actuators/lamp/command", json={"value": False})
            assert lamp.receive() == ("lamp/set", b"OFF")
            assert lamp.waiting == 0


class passing:  # noqa: N801  # reads as the other context does
    """A request that may or may not be answered before the end."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, httpx.TransportError)


def gateway(folder: Path, port: int, step: str) -> Program:
    return Program(
        sys.executable, "-m", "tests.gateway.actuation.killed", str(folder), str(port), step
    )


def url(program: Program) -> str:
    port = program.wait_for("http ").split()[-1]
    return f"http://{LOOPBACK}:{port}"
