"""A trial is what ingest would make of a message, and changes nothing."""

from datetime import UTC, datetime
from pathlib import Path

from adapters.registry import Registry
from adapters.values.fault import Fault, FaultReason
from adapters.values.mapping import Mapping
from adapters.values.message import Message
from adapters.values.observation import Observation
from gateway.admin.onboarding.trial import Trial, Writing, try_message
from gateway.config.settings import SHIPPED_PROFILES
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.profiles import Profiles
from gateway.rdf.namespaces import GW, SOSA
from gateway.store.quad_store import QuadStore
from gateway.store.update import bind_update

NOW = datetime(2026, 3, 2, 7, 22, 40, tzinfo=UTC)
MAPPING = Mapping(
    *("urn:m", "lab/+", "json", "urn:s:{1}", "urn:p:temperature", "urn:lab"),
    selector="$.t",
    unit="http://qudt.org/vocab/unit/DEG_C",
    time_selector="$.at",
)


def writing() -> Writing:
    profiles = Profiles.load([Path(SHIPPED_PROFILES / "observations.jsap")])
    return Writing(ObservationTemplates(profiles, Identity("urn:gw:", "test")))


def tried(payload: bytes, **options: object) -> Trial:
    registry, errors = Registry.compile([MAPPING])
    assert not errors
    message = Message("lab/north", payload, NOW)
    return try_message(registry, message, writing(), **options)  # type: ignore[arg-type]


def objects(trial: Trial, term: str) -> list[str]:
    return [quad.object.value for quad in trial.triples if quad.predicate.value == term]  # type: ignore[union-attr]


def test_observations_and_the_triples_of_the_profile() -> None:
    trial = tried(b'{"t":21.50,"at":"2026-03-02T07:00:00Z"}')
    (seen,) = trial.observations
    assert (seen.sensor, seen.lexical, seen.phenomenon_time) == (
        *("urn:s:north", "21.50"),
        datetime(2026, 3, 2, 7, tzinfo=UTC),
    )
    assert trial.matched
    assert not trial.faults
    assert len(trial.triples) == 18
    assert objects(trial, SOSA + "hasSimpleResult") == ["21.5"]
    assert objects(trial, SOSA + "resultTime") == ["2026-03-02T07:00:00Z"]


def test_a_clock_that_is_ahead_is_suspect() -> None:
    trial = tried(b'{"t":1,"at":"2036-03-02T07:00:00Z"}')
    assert objects(trial, GW + "clockSuspect") == ["true"]
    assert objects(trial, SOSA + "resultTime") == ["2026-03-02T07:22:40Z"]


def test_what_cannot_be_believed_is_a_fault_and_no_triple() -> None:
    def never(seen: Observation, when: datetime) -> Fault:
        assert when == NOW
        return Fault(None, FaultReason.OUT_OF_RANGE, seen.lexical)

    trial = tried(b'{"t":1}', believe=never)
    assert not trial.triples
    assert [fault.reason for fault in trial.faults] == [FaultReason.OUT_OF_RANGE]


def test_the_store_that_templates_may_look_into_stays_as_it_is() -> None:
    store = QuadStore.open(None)
    trial = tried(b'{"t":1}', store=store)
    assert trial.triples
    assert len(store) == 0


def test_an_unknown_topic_gives_nothing() -> None:
    registry, _ = Registry.compile([MAPPING])
    trial = try_message(registry, Message("else", b"1", NOW), writing())
    assert not trial.matched
    assert trial == Trial()


def test_triples_that_are_there_already_are_told_too() -> None:
    store = QuadStore.open(None)
    plan, bindings = bind_update(
        "INSERT DATA { <urn:s:north> a <http://www.w3.org/ns/sosa/Sensor> }"
    )
    from gateway.store.update import evaluate

    store.apply(evaluate(store, [(plan, bindings)]))
    assert len(tried(b'{"t":1}', store=store).triples) == len(tried(b'{"t":1}').triples)
