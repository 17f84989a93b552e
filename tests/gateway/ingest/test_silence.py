"""When a stream counts as absent, and when it is there again, by a clock that the test turns."""

from datetime import UTC, datetime, timedelta

import pytest
from pyoxigraph import NamedNode, Quad

from adapters.values.notice import Heartbeat, Liveness
from adapters.values.observation import USUAL, Circumstances, Observation, StreamKey
from gateway.config.settings import SHIPPED_PROFILES
from gateway.engine import Engine
from gateway.ingest.silence import Absences, AbsenceTemplates
from gateway.ingest.sosa import Identity
from gateway.profiles import Profiles
from gateway.rdf.namespaces import GW, XSD
from gateway.store.update import BoundUpdate

IDENTITY = Identity("https://gateway.example/", "test")
HALL: StreamKey = ("urn:s:hall", "urn:p", "urn:hall")
YARD: StreamKey = ("urn:s:yard", "urn:p", "urn:yard")
START = datetime(2026, 3, 2, tzinfo=UTC)


class Watch:
    """Absences over a store, and their clock."""

    def __init__(self) -> None:
        self.now_s = 0.0
        profiles = Profiles.load((SHIPPED_PROFILES / "observations.jsap",))
        self.absences = Absences(AbsenceTemplates(profiles, IDENTITY), lambda: self.now_s)
        self.engine = Engine.open()

    def hear(self, *streams: StreamKey, circumstances: Circumstances = USUAL) -> None:
        seen = [
            Observation(*stream, "1", XSD + "integer", circumstances=circumstances)
            for stream in streams
        ]
        self._run(self.absences.note(seen, (), self._wall()))

    def told(self, *notices: Liveness | Heartbeat) -> None:
        self._run(self.absences.note((), notices, self._wall()))

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self._run(self.absences.due())

    def absent(self) -> dict[str, tuple[str, str]]:
        """Feature to time and reason."""
        text = f"""SELECT ?feature ?since ?reason {{
          ?stream <{GW}absentSince> ?since ; <{GW}absenceReason> ?reason ;
            <{GW}ofFeature> ?feature ; a <{GW}Stream> }}"""
        rows = self.engine.query(text)
        return {
            row["feature"].value: (row["since"].value, row["reason"].value.removeprefix(GW))
            for row in rows  # type: ignore[union-attr]
        }

    def _run(self, updates: list[BoundUpdate]) -> None:
        for update in updates:
            self.engine.update([update])

    def _wall(self) -> datetime:
        return START + timedelta(seconds=self.now_s)


@pytest.fixture
def watch() -> Watch:
    return Watch()


def test_silence_longer_than_promised_is_absence_until_the_next_observation(watch: Watch) -> None:
    watch.told(Liveness(HALL, True, 60.0))
    watch.wait(59)
    watch.hear(HALL)
    watch.wait(59)
    assert watch.absent() == {}
    assert watch.absences.wait_s == pytest.approx(1)
    watch.wait(1)
    assert watch.absent() == {"urn:hall": ("2026-03-02T00:00:59Z", "Silence")}
    assert watch.absences.wait_s is None
    watch.hear(HALL)
    assert watch.absent() == {}
    watch.wait(60)
    assert watch.absent() == {"urn:hall": ("2026-03-02T00:01:59Z", "Silence")}
    assert (watch.absences.raised, watch.absences.cleared, watch.absences.absent) == (2, 1, 1)


def test_each_stream_has_its_own_time(watch: Watch) -> None:
    watch.told(Liveness(HALL, True, 60.0), Liveness(YARD, True, 30.0))
    watch.wait(30)
    assert list(watch.absent()) == ["urn:yard"]
    watch.told(Heartbeat(YARD))
    assert watch.absent() == {}
    watch.wait(30)
    assert sorted(watch.absent()) == ["urn:hall", "urn:yard"]


def test_offline_is_absence_at_once_and_is_not_raised_again_by_silence(watch: Watch) -> None:
    watch.told(Liveness(HALL, True, 60.0))
    watch.wait(10)
    watch.told(Liveness(HALL, False))
    assert watch.absent() == {"urn:hall": ("2026-03-02T00:00:10Z", "Offline")}
    watch.wait(60)
    assert watch.absent() == {"urn:hall": ("2026-03-02T00:00:10Z", "Offline")}
    watch.told(Liveness(HALL, True))
    assert watch.absent() == {}
    watch.wait(60)
    assert watch.absent()["urn:hall"][1] == "Silence"


def test_device_that_was_never_heard_can_be_offline(watch: Watch) -> None:
    watch.told(Liveness(YARD, False), Liveness(YARD, False))
    assert list(watch.absent()) == ["urn:yard"]
    assert watch.absences.raised == 1


def test_shorter_promise_counts_from_now(watch: Watch) -> None:
    watch.told(Liveness(HALL, True, 600.0))
    watch.told(Liveness(HALL, True, 10.0))
    watch.wait(10)
    assert list(watch.absent()) == ["urn:hall"]
    promises = list(
        watch.engine.store.match(IDENTITY.stream(HALL), NamedNode(GW + "expiresAfter"), None, None)
    )
    assert [_value(quad) for quad in promises] == ["10"]


def test_what_is_old_is_no_sign_of_life(watch: Watch) -> None:
    watch.told(Liveness(HALL, True, 60.0))
    watch.wait(60)
    for how in (Circumstances(seed=True), Circumstances(historical=True)):
        watch.hear(HALL, circumstances=how)
        assert list(watch.absent()) == ["urn:hall"]


def test_unwatched_streams_cost_nothing(watch: Watch) -> None:
    watch.hear(HALL)
    watch.told(Heartbeat(HALL))
    assert watch.absences.wait_s is None
    assert len(watch.engine.store) == 0


def test_after_a_restart_promises_begin_anew_and_the_absent_come_back(watch: Watch) -> None:
    watch.absences.recall(HALL, 60.0, True, START)
    watch.absences.recall(YARD, 60.0, False, START)
    assert watch.absences.absent == 1
    watch.wait(60)
    assert list(watch.absent()) == ["urn:yard"]
    watch.hear(HALL, YARD)
    assert watch.absences.absent == 0
    assert watch.absences.cleared == 2


def _value(quad: Quad) -> str:
    return getattr(quad.object, "value", "")
