"""Retained messages, the acceptance window, and PUBLISH on the wire, without a socket."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BadRequestError
from gateway.gates.mqtt.embedded.acceptance import AcceptanceWindow
from gateway.gates.mqtt.embedded.frames import (
    Frame,
    Publish,
    decode_publish,
    encode_publish,
    read_frame,
)
from gateway.gates.mqtt.embedded.retained import GATEWAY, RetainedLimits, RetainedMessages

ANY_BYTES = 1_000_000


def retained_messages(max_topics: int, max_bytes: int) -> RetainedMessages:
    limits = RetainedLimits(
        max_topics,
        max_bytes,
        owner_topics=max_topics,
        owner_bytes=max_bytes,
        own_topics=max_topics,
        own_bytes=max_bytes,
    )
    return RetainedMessages(limits)


def all_of(retained: RetainedMessages) -> list[bytes]:
    return [kept.payload for kept in retained.matching(lambda _: True)]


def test_retained_message_is_replaced_and_removed() -> None:
    retained = retained_messages(max_topics=2, max_bytes=11)
    assert retained.keep(Publish("a", b"1"))
    assert retained.keep(Publish("a", b"2"))
    assert all_of(retained) == [b"2"]
    assert retained.keep(Publish("a", b""))
    assert all_of(retained) == []


def test_retained_bytes_are_bounded_and_given_back() -> None:
    retained = retained_messages(max_topics=9, max_bytes=11)
    assert retained.keep(Publish("a", bytes(6)))
    assert not retained.keep(Publish("b", bytes(6)))
    assert retained.keep(Publish("a", bytes(10)))
    assert retained.keep(Publish("a", b""))
    assert retained.keep(Publish("b", bytes(10)))


def test_retained_message_without_room_does_not_leave_the_old_one() -> None:
    retained = retained_messages(max_topics=9, max_bytes=11)
    retained.keep(Publish("a", b"old"))
    assert not retained.keep(Publish("a", bytes(11)))
    assert all_of(retained) == []


def test_retained_share_is_its_owners_alone() -> None:
    retained = RetainedMessages(RetainedLimits(10, 1000, owner_topics=2, owner_bytes=20))
    assert [retained.keep(Publish(topic, b"1"), "greedy") for topic in "abc"] == [True, True, False]
    assert not retained.keep(Publish("d", bytes(20)), "other")
    assert retained.keep(Publish("d", bytes(19)), "other")
    assert retained.keep(Publish("b", b""), "greedy")
    assert retained.keep(Publish("c", b"1"), "greedy")
    assert retained.refused == 2


def test_full_budget_takes_the_oldest_of_whoever_has_most() -> None:
    retained = RetainedMessages(RetainedLimits(4, 1000, owner_topics=3, owner_bytes=1000))
    for topic in "abca":
        assert retained.keep(Publish(topic, topic.encode()), "greedy")
    assert retained.keep(Publish("d", b"d"), "small")
    assert retained.keep(Publish("e", b"e"), "new")
    assert sorted(all_of(retained)) == [b"a", b"c", b"d", b"e"]
    assert not retained.keep(Publish("f", b"f"), "small")


def test_what_the_gateway_retains_and_what_devices_do_go_for_nobody_of_the_others() -> None:
    limits = RetainedLimits(2, 30, owner_topics=2, owner_bytes=30, own_topics=3, own_bytes=210)
    retained = RetainedMessages(limits)
    for topic in "abc":
        assert retained.keep(Publish(topic, bytes(50)), GATEWAY)
    for topic in "de":
        assert retained.keep(Publish(topic, bytes(9)), "client")
    assert not retained.keep(Publish("f", b"f"), "client")
    assert not retained.keep(Publish("g", bytes(50)), GATEWAY)
    assert retained.keep(Publish("a", bytes(99)), GATEWAY)
    assert not retained.keep(Publish("b", bytes(99)), GATEWAY)
    assert len(retained) == 4
    assert retained.refused == 3


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 30), st.sampled_from(["", "x", "y"])),
        max_size=60,
    )
)
def test_retained_messages_keep_to_every_bound(kept: list[tuple[str, int, str]]) -> None:
    limits = RetainedLimits(5, 80, owner_topics=3, owner_bytes=50, own_topics=4, own_bytes=60)
    retained = RetainedMessages(limits)
    owners: dict[str, str] = {}
    for topic, size, owner in kept:
        assert retained.keep(Publish(topic, bytes(size)), owner) or size
        owners[topic] = owner
        messages = list(retained.matching(lambda _: True))
        of_devices = [each for each in messages if owners[each.topic] != GATEWAY]
        assert len(of_devices) <= limits.topics
        assert sum(len(each.payload) + 1 for each in of_devices) <= limits.total_bytes
        ours = [each for each in messages if owners[each.topic] == GATEWAY]
        assert len(ours) <= limits.own_topics
        assert sum(len(each.payload) + 1 for each in ours) <= limits.own_bytes
        for name in ("x", "y"):
            own = [each for each in messages if owners[each.topic] == name]
            assert len(own) <= limits.owner_topics
            assert sum(len(each.payload) + 1 for each in own) <= limits.owner_bytes


class Window:
    """An `AcceptanceWindow` of two, and what it did."""

    def __init__(self) -> None:
        self.settled: list[tuple[str, bool]] = []
        self.failed: list[str] = []
        self.window = AcceptanceWindow(
            2,
            lambda publish, accepted: self.settled.append((publish.topic, accepted)),
            lambda publish, _: self.failed.append(publish.topic),
        )

    def admit(self, topic: str) -> asyncio.Future[None]:
        future = asyncio.get_running_loop().create_future()
        self.window.admit(Publish(topic, b""), future)
        return future


async def test_window_settles_in_the_order_of_admission() -> None:
    one = Window()
    first, second = one.admit("1"), one.admit("2")
    one.window.admit(Publish("3", b""), None)
    second.set_result(None)
    await asyncio.sleep(0)
    assert one.settled == []
    first.set_result(None)
    await one.window.drain(1.0)
    assert one.settled == [("1", True), ("2", True), ("3", False)]


async def test_window_failure_gives_up_what_is_behind() -> None:
    one = Window()
    first, second, third = one.admit("1"), one.admit("2"), one.admit("3")
    second.set_exception(OSError("disk"))
    third.set_result(None)
    first.set_result(None)
    await one.window.drain(1.0)
    assert (one.settled, one.failed) == ([("1", True)], ["2"])


async def test_window_takes_a_cancelled_acceptance_for_a_failure() -> None:
    one = Window()
    one.admit("1").cancel()
    await one.window.drain(1.0)
    assert (one.settled, one.failed) == ([], ["1"])


async def test_window_drain_cancels_what_takes_too_long() -> None:
    one = Window()
    late = one.admit("1")
    await one.window.drain(0.01)
    assert late.cancelled()
    assert (one.settled, one.failed) == ([], [])


async def test_window_has_room_again_once_the_oldest_is_settled() -> None:
    one = Window()
    first, _ = one.admit("1"), one.admit("2")
    waiting = asyncio.create_task(one.window.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    first.set_result(None)
    await asyncio.wait_for(waiting, 30)
    one.window.abandon()


TOPICS = st.text(st.characters(exclude_characters="+#\0", codec="utf-8"), min_size=1, max_size=9)


@given(TOPICS, st.binary(max_size=300), st.sampled_from([0, 1, 2]), st.booleans(), st.booleans())
async def test_publish_survives_the_wire(
    topic: str, payload: bytes, qos: int, retain: bool, duplicate: bool
) -> None:
    packet_id = 513 if qos else 0
    duplicate = duplicate and qos > 0
    publish = Publish(topic, payload, qos, retain, duplicate, packet_id)
    reader = asyncio.StreamReader()
    reader.feed_data(encode_publish(publish, packet_id, duplicate))
    assert decode_publish(await read_frame(reader, ANY_BYTES)) == publish


@given(st.integers(0, 15), st.binary(max_size=20))
def test_any_publish_body_decodes_or_is_refused(flags: int, body: bytes) -> None:
    try:
        publish = decode_publish(Frame(3, flags, body))
    except BadRequestError:
        return
    assert len(publish.topic.encode()) + len(publish.payload) <= len(body)


@pytest.mark.parametrize("length", [0, 127, 128, 16_383, 16_384, 300_000])
async def test_frame_length_is_read_at_each_size(length: int) -> None:
    reader = asyncio.StreamReader()
    publish = Publish("t", bytes(length))
    reader.feed_data(encode_publish(publish, 0, duplicate=False))
    frame = await read_frame(reader, ANY_BYTES)
    assert len(frame.body) == length + 3
