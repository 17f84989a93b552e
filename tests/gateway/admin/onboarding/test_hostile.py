"""Whatever comes as an announcement or on an unknown topic, onboarding goes on."""

import json
import threading
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from pyoxigraph import NamedNode

from adapters.families import FORMATS
from adapters.values.message import Message
from adapters.values.properties import BASE
from adapters.values.proposal import Names
from gateway.admin.onboarding import announcements
from gateway.admin.onboarding.announcements import (
    Acceptance,
    Announcement,
    ProposalUpdate,
    ProposalUpdater,
)
from gateway.admin.onboarding.confirmation import confirming
from gateway.admin.onboarding.discovery import MOST_WAITING, DiscoveryWorker, _Heard
from gateway.admin.onboarding.nodes import described, stored_nodes
from gateway.admin.onboarding.onboarding import Found
from gateway.admin.onboarding.proposal_graph import all_proposals, status_of
from gateway.admin.onboarding.unknown import UnknownTopics
from gateway.config.discovery import ANNOUNCERS
from gateway.engine import Engine
from gateway.gates.admin.mapping_answers import proposal_answer, unknown_answer
from gateway.store.update import change
from tests.gateway.admin.onboarding.devices import bridge_devices

NOW = datetime(2026, 3, 2, tzinfo=UTC)
DEVICES = "zigbee2mqtt/bridge/devices"


def _sent(answer: BaseModel) -> dict[str, Any]:
    """As the JSON interface writes it."""
    return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Bench:
    """Discovery with a real engine, in one thread: what was heard is looked at when asked."""

    def __init__(self, *auto: str) -> None:
        self.engine = Engine.open(None)
        self.unknown = UnknownTopics(most=1000, most_bytes=2_097_152)
        self._auto = frozenset(auto)
        self.discovery = DiscoveryWorker(
            self._propose,
            self.unknown,
            lambda _, guesses: guesses,
            Names("urn:id:"),
            families=frozenset(ANNOUNCERS),
            auto=self._auto,
        )

    def hear(self, topic: str, payload: bytes) -> None:
        self.discovery.observe(Message(topic, payload, NOW), False)

    def look(self) -> None:
        """Look at all that was heard."""
        while self.discovery.waiting:
            self.discovery.serve_one()

    def _propose(self, announcement: Announcement) -> ProposalUpdate:
        taking = ProposalUpdater(self.engine, Acceptance(self._auto))
        delta = taking.take(announcement)
        if not delta.is_empty:
            self.engine.update([change(delta)])
        return taking.update

    def answers(self) -> list[Any]:
        """Everything that the API would tell, as JSON that can be written."""
        nodes = stored_nodes(self.engine)
        proposals = all_proposals(self.engine)
        found = [Found(each, status_of(each, each.node in nodes)) for each in proposals]
        told = [_sent(proposal_answer(each)) for each in found]
        topics = [_sent(unknown_answer(each, shows_payloads=True)) for each in self.unknown.list()]
        json.dumps([told, topics, described(nodes)], allow_nan=False).encode()
        return told


def test_what_is_too_long_or_too_much_is_passed_over_and_counted() -> None:
    bench = Bench()
    bench.hear(DEVICES, b"[" + b" " * 10_000_000 + b"]")
    assert bench.discovery.statistics.passed_over == 1
    for number in range(MOST_WAITING + 5):
        bench.hear(f"b{number}/bridge/devices", b"[]")
    assert bench.discovery.statistics.passed_over == 6


def test_an_announcement_of_many_devices_is_bounded(monkeypatch: Any) -> None:
    monkeypatch.setattr(announcements, "MOST_PROPOSALS", 20)
    bench = Bench()
    bench.hear(DEVICES, bridge_devices(*(f"d{number}" for number in range(40))))
    bench.look()
    assert len(bench.answers()) == 20
    assert bench.discovery.statistics.refused == 60
    bench.hear(DEVICES, bridge_devices("d0"))  # the others are withdrawn and make room
    bench.hear("other/bridge/devices", bridge_devices(*(f"e{number}" for number in range(9))))
    bench.look()
    assert len(bench.answers()) == 20


def test_names_of_devices_cannot_become_triples() -> None:
    evil = 'x> <urn:evil> "1" . <urn:y> <urn:z> <urn:q> . } } ; DROP ALL ; '
    bench = Bench("zigbee2mqtt")
    bench.hear(DEVICES, bridge_devices(evil, "a/+/b", "c#", "\x00", "\ud83d\ude00", "{1}"))
    bench.look()
    answers = bench.answers()
    assert len(answers) == 12
    assert {each["device"] for each in answers} >= {evil, "a/+/b"}
    nodes = [quad.subject for quad in bench.engine.store.match(None, None, None, None)]
    assert NamedNode("urn:evil") not in nodes
    assert all(
        isinstance(node, NamedNode)
        and ("urn:id:" in node.value or "graph/" in node.value or node.value.startswith(BASE))
        for node in nodes
    )
    # A name with a wildcard is no topic of one device: it waits for a person.
    errors = {each["device"]: each.get("error", "") for each in answers}
    assert "topic_filter" in errors["c#"]
    questions = {each["device"]: each.get("question", "") for each in answers}
    assert "wildcard" in questions["a/+/b"]
    confirmed = {each["device"] for each in answers if each["status"] == "confirmed"}
    assert confirmed == {evil, "\U0001f600", "{1}"}


def test_the_thread_survives_a_defect_of_a_family() -> None:
    bench = Bench()

    def broken(_: Announcement) -> ProposalUpdate:
        raise ZeroDivisionError

    bench.discovery._propose = broken
    bench.hear(DEVICES, bridge_devices("kitchen"))
    bench.hear("x", b"1")
    bench.look()
    assert [each.family for each in bench.unknown.list()] == ["scalar"]


def test_stopping_does_not_wait_for_what_is_left() -> None:
    bench = Bench()
    for number in range(100):
        bench.hear(f"t/{number}", b"1")
    bench.discovery.stop()
    thread = threading.Thread(target=bench.discovery.run)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()


TOPICS = st.one_of(
    st.sampled_from(
        [
            DEVICES,
            "tasmota/discovery/AABBCCDDEEFF/config",
            "tasmota/discovery/AABBCCDDEEFF/sensors",
            "homeassistant/sensor/x/config",
            "homeassistant/switch/n/o/config",
            "homie/5/d/$description",
            "homie/d/n/p/$datatype",
            "spBv1.0/g/NBIRTH/n",
            "shellyplus1-aabbcc/events/rpc",
            "application/1/device/2/event/up",
            "v3/app@t/devices/d/up",
        ]
    ),
    st.text(st.characters(blacklist_characters="+#\0", blacklist_categories=["Cs"]), min_size=1),
)
WORDS = ("ieee_address", "friendly_name", "definition", "exposes", "property", "unit", "access")
KEYS = (*WORDS, "type", "features", "name", "stat_t", "state_topic", "cmd_t", "uniq_id", "dn", "t")
JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=20),
        st.sampled_from(["numeric", "binary", "°C", "%", "a b:c", "zigbee/x", "{{ value }}"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=9), inner, max_size=6),
    ),
    max_leaves=20,
)
PAYLOADS = st.one_of(st.binary(max_size=200), JSON.map(lambda value: json.dumps(value).encode()))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(TOPICS, PAYLOADS), min_size=1, max_size=6))
def test_no_message_breaks_onboarding(messages: list[tuple[str, bytes]]) -> None:
    bench = Bench(*FORMATS)
    crashed: list[BaseException] = []
    look = bench.discovery._look

    def watched(heard: _Heard) -> None:
        try:
            look(heard)
        except Exception as error:
            crashed.append(error)

    bench.discovery._look = watched  # type: ignore[method-assign]
    for topic, payload in messages:
        bench.hear(topic, payload)
    bench.look()
    assert crashed == []
    for each in bench.answers():
        if "error" not in each:
            (found,) = [p for p in all_proposals(bench.engine) if p.id == each["id"]]
            done = confirming(bench.engine, [found], {}, "")
            bench.engine.update([change(done.delta)])
    assert not [each for each in described(stored_nodes(bench.engine)) if "error" in each]
