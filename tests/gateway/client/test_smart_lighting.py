"""Event negation by the shipped profile: the lamp goes off Δt after the last presence, and only if
none came meanwhile (Roffia et al. 2016, sections II.C and II.D, figure 2). The clock is a fake.
"""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode

import jsap
from gateway.engine import Engine, Outcome
from jsap import load_profile

PROFILE = load_profile(Path(jsap.__path__[0]) / "profiles" / "smart-lighting.jsap")
SENSOR, LAMP = NamedNode("urn:sensor"), NamedNode("urn:lamp")
DELAY = timedelta(seconds=30)


class Street:
    """The three clients of the example, around one engine: sensor, lamp, and smart lighting."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000_000
        self.engine = Engine.open(clock=lambda: self.now)
        self.lamp: list[str] = []
        self._presence = self.engine.subscribe(PROFILE.queries["PRESENCE"].text).spuid
        self._lamps = self.engine.subscribe(PROFILE.queries["LAMPS"].text).spuid
        light = PROFILE.namespaces["light"]
        self.engine.update(f"INSERT DATA {{ {LAMP} <{light}watchedBy> {SENSOR} }}")

    def sense(self, presence: bool) -> None:
        """The presence sensor, a producer."""
        self._run("PRESENCE", {"sensor": SENSOR, "presence": Literal(presence)})

    def wait(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now += 1_000_000
            while (outcome := self.engine.run_due()) is not None:
                self._react(outcome)

    def _run(
        self, name: str, values: Mapping[str, NamedNode | Literal], at: timedelta | None = None
    ) -> None:
        template = PROFILE.updates[name]
        plan = self.engine.prepare(template.text)
        self._react(self.engine.update(plan, template.bind(values), at=at))

    def _react(self, outcome: Outcome) -> None:
        for notification in outcome.notifications:
            for row in notification.added:
                if notification.spuid == self._lamps:  # the lamp, a consumer
                    status = row["status"]
                    assert isinstance(status, Literal)
                    self.lamp.append(status.value)
                elif row["presence"] == Literal(True):  # smart lighting, an aggregator
                    self._run("LAMP_ON", {"sensor": SENSOR})
                else:
                    since = row["since"]
                    assert isinstance(since, Literal)
                    off: dict[str, NamedNode | Literal] = {"sensor": SENSOR, "since": since}
                    self._run("LAMP_OFF_UNLESS_PRESENCE", off, at=DELAY)


@pytest.fixture
def street() -> Street:
    return Street()


def test_lamp_goes_off_when_nobody_came_for_the_delay(street: Street) -> None:
    street.sense(True)
    street.wait(100)
    assert street.lamp == ["ON"]
    street.sense(False)
    street.wait(29)
    assert street.lamp == ["ON"]
    street.wait(1)
    assert street.lamp == ["ON", "OFF"]
    street.wait(100)
    assert street.lamp == ["ON", "OFF"]


def test_lamp_stays_on_when_somebody_came_meanwhile(street: Street) -> None:
    street.sense(True)
    street.sense(False)
    street.wait(20)
    street.sense(True)
    street.wait(100)
    assert street.lamp == ["ON"]


def test_delay_counts_from_the_last_presence(street: Street) -> None:
    street.sense(True)
    street.sense(False)
    street.wait(20)
    street.sense(True)
    street.wait(5)
    street.sense(False)
    street.wait(29)
    assert street.lamp == ["ON"]
    assert street.engine.statistics.delayed_executed == 1
    street.wait(1)
    assert street.lamp == ["ON", "OFF"]
    assert street.engine.delayed() == ()
