"""Which reading counts as the last one of a stream, asked of the store."""

from datetime import UTC, datetime

import pytest

from adapters.values.observation import XSD, Observation
from gateway.actuation.last_reading import LastReadings
from gateway.config.settings import SHIPPED_PROFILES
from gateway.engine import Engine
from gateway.ingest.current_state import CurrentState
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.journal import Position, Record
from gateway.profiles import Profiles

IDENTITY = Identity("https://gateway.example/", "test")
NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize("count", [2, 11])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_of_readings_that_came_at_once_the_one_that_came_last(
    count: int, is_reversed: bool
) -> None:
    """By number: as text position 9 stands behind 10."""
    profiles = Profiles.load((SHIPPED_PROFILES / "observations.jsap",))
    state = CurrentState(ObservationTemplates(profiles, IDENTITY), IDENTITY, latest=count)
    engine = Engine.open()
    records = [
        Record(
            Position(7, number),
            1,
            Observation("urn:s", "urn:p", "urn:f", str(number), XSD + "integer", None, NOW),
            NOW,
        )
        for number in range(1, count + 1)
    ]
    for record in sorted(records, key=lambda each: str(each.position), reverse=is_reversed):
        engine.update(state.request([record]).updates)
    last = LastReadings(profiles, engine.query).of(("urn:s", "urn:p", "urn:f"))
    assert last is not None
    assert last.reading.value.value == str(count)
