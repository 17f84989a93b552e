"""What a sensor can have measured, by its capability in the graph."""

from datetime import UTC, datetime, timedelta

import pytest

from adapters.values.fault import FaultReason
from adapters.values.observation import Observation
from gateway.config.settings import SHIPPED_PROFILES
from gateway.engine import Engine
from gateway.ingest.plausibility import Plausibility
from gateway.profiles import Profiles
from gateway.rdf.namespaces import UNIT, XSD

START = datetime(2026, 3, 2, tzinfo=UTC)
PREFIXES = """PREFIX gw: <https://sosa-gateway.example/ns#> PREFIX ssn: <http://www.w3.org/ns/ssn/>
PREFIX ssn-system: <http://www.w3.org/ns/ssn/systems/> PREFIX schema: <https://schema.org/>
PREFIX qudt: <http://qudt.org/schema/qudt/> """


class Learned:
    """A Plausibility that subscribes to the capabilities in an engine."""

    def __init__(self) -> None:
        self.engine = Engine.open()
        self.plausibility = Plausibility()
        profiles = Profiles.load((SHIPPED_PROFILES / "observations.jsap",))
        self.plausibility.learn(self.engine.subscribe(profiles.query_text("CAPABILITIES")))

    def update(self, text: str) -> None:
        for notification in self.engine.update(PREFIXES + text).notifications:
            self.plausibility.learn(notification)

    def reason(
        self,
        lexical: str,
        at_s: float = 0,
        sensor: str = "urn:s",
        datatype: str = "decimal",
        observed_property: str = "urn:p",
    ) -> FaultReason | None:
        seen = Observation(sensor, observed_property, "urn:f", lexical, XSD + datatype)
        fault = self.plausibility.fault(seen, START + timedelta(seconds=at_s))
        return None if fault is None else fault.reason


@pytest.fixture
def learned() -> Learned:
    return Learned()


RANGE = """INSERT DATA { <urn:s> ssn-system:hasSystemCapability <urn:c> .
  <urn:c> ssn-system:hasSystemProperty <urn:r> . <urn:r> schema:minValue -40 .
  <urn:r> schema:maxValue 85 }"""


def test_range_of_a_sensor_holds_at_its_bounds_and_for_numbers_alone(learned: Learned) -> None:
    assert learned.reason("999") is None
    learned.update(RANGE)
    assert learned.reason("85.0") is None
    assert learned.reason("-40") is None
    assert learned.reason("85.01") is FaultReason.OUT_OF_RANGE
    assert learned.reason("-4e1", datatype="double") is None
    assert learned.reason("-41", datatype="integer") is FaultReason.OUT_OF_RANGE
    assert learned.reason("INF", datatype="double") is None  # adapters refuse it already
    assert learned.reason("999", sensor="urn:other") is None
    assert learned.reason("999", datatype="string") is None


def test_capability_for_a_property_is_for_that_one(learned: Learned) -> None:
    learned.update(RANGE)
    learned.update("INSERT DATA { <urn:c> ssn:forProperty <urn:p> }")
    assert learned.reason("86") is FaultReason.OUT_OF_RANGE
    assert learned.reason("86", observed_property="urn:q") is None


def test_capability_that_is_changed_or_taken_away_counts_at_once(learned: Learned) -> None:
    learned.update(RANGE)
    learned.update("DELETE DATA { <urn:r> schema:maxValue 85 }")
    assert learned.reason("86") is None
    assert learned.reason("-41") is FaultReason.OUT_OF_RANGE
    learned.update("DELETE WHERE { <urn:s> ?p ?o }")
    assert learned.reason("-41") is None


def test_bound_that_is_no_number_is_no_bound(learned: Learned) -> None:
    learned.update(
        "INSERT DATA { <urn:s> ssn-system:hasSystemCapability <urn:c> . "
        '<urn:c> ssn-system:hasSystemProperty <urn:r> . <urn:r> schema:maxValue "hot" , <urn:x> }'
    )
    assert learned.reason("999") is None


def test_jump_is_refused_until_it_could_have_happened(learned: Learned) -> None:
    learned.update(RANGE)
    learned.update("INSERT DATA { <urn:r> gw:maximumRate 0.5 }")
    assert learned.reason("20", at_s=0) is None
    assert learned.reason("25", at_s=10) is None
    assert learned.reason("60", at_s=20) is FaultReason.JUMP
    assert learned.reason("60", at_s=79) is FaultReason.JUMP
    assert learned.reason("60", at_s=80) is None
    assert learned.reason("90", at_s=1000) is FaultReason.OUT_OF_RANGE
    assert learned.reason("60", at_s=1001) is None


def test_time_between_arrivals_counts_where_the_time_of_the_device_stands_still(
    learned: Learned,
) -> None:
    learned.update(RANGE + " ; INSERT DATA { <urn:r> gw:maximumRate 1 }")

    def fault(lexical: str, at_s: float, heard_s: float) -> FaultReason | None:
        seen = Observation("urn:s", "urn:p", "urn:f", lexical, XSD + "decimal")
        when, heard = (START + timedelta(seconds=s) for s in (at_s, heard_s))
        found = learned.plausibility.fault(seen, when, heard)
        return None if found is None else found.reason

    assert fault("20", 0, 100) is None
    assert fault("20.5", 0, 100.4) is FaultReason.JUMP
    assert fault("20.5", 0, 100.6) is None
    assert fault("22", 1, 109) is FaultReason.JUMP


def test_last_result_of_an_earlier_life_counts_in_its_own_unit(learned: Learned) -> None:
    learned.update(RANGE + " ; INSERT DATA { <urn:r> gw:maximumRate 0.1 }")
    before = Observation("urn:s", "urn:p", "urn:f", "20", XSD + "decimal")
    learned.plausibility.recall(before, START)
    assert learned.reason("30", at_s=5) is FaultReason.JUMP
    assert learned.reason("30", at_s=100) is None
    fahrenheit = Observation("urn:s", "urn:p", "urn:f", "60", XSD + "decimal", "urn:F")
    assert learned.plausibility.fault(fahrenheit, START + timedelta(seconds=101)) is None


def test_range_with_a_unit_holds_whatever_unit_the_device_tells(learned: Learned) -> None:
    celsius, fahrenheit = UNIT + "DEG_C", UNIT + "DEG_F"
    learned.update(RANGE + f" ; INSERT DATA {{ <urn:r> qudt:hasUnit <{celsius}> }}")
    learned.update("INSERT DATA { <urn:r> gw:maximumRate 0.1 }")

    def fault(lexical: str, unit: str | None, at_s: float) -> FaultReason | None:
        seen = Observation("urn:s", "urn:p", "urn:f", lexical, XSD + "decimal", unit)
        found = learned.plausibility.fault(seen, START + timedelta(seconds=at_s))
        return None if found is None else found.reason

    assert fault("185", fahrenheit, 0) is None
    assert fault("186", fahrenheit, 1) is FaultReason.OUT_OF_RANGE
    assert fault("85", celsius, 1) is None
    assert fault("150", fahrenheit, 2) is FaultReason.JUMP
    assert fault("150", UNIT + "HectoPA", 2) is None
    assert fault("150", None, 2) is None
